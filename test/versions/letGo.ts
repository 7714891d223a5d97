import { Container } from '@n8n/di';
import { SSHClientsManager } from 'n8n-core/dist/execution-engine/ssh-clients-manager';

// The engine of n8n 1.x closes idle SSH connections with a timer that keeps the process alive. Newer releases don't.
afterAll(() => Container.get(SSHClientsManager).onShutdown());
