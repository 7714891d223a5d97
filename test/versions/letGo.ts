import { Container } from '@n8n/di';
import { SSHClientsManager } from 'n8n-core/dist/execution-engine/ssh-clients-manager';

// The engine of n8n 1.x closes idle SSH connections by a timer that keeps the process alive; newer ones let it go.
afterAll(() => Container.get(SSHClientsManager).onShutdown());
