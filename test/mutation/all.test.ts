/**
 * The tests that mutants are held against, in one file: n8n's engine takes two seconds to load, and Jest loads
 * it anew for each file. The quick ones come first, so that most mutants die early.
 */
import '../faults/retryPolicy.test';
import '../faults/failureOf.test';
import '../node/badInput.test';
import '../node/createJob.test';
import '../node/changeState.test';
import '../node/clusters.test';
import '../node/dropDown.test';
import '../node/errors.test';
import '../faults/items.test';
import '../login/tokens.test';
import '../login/login.test';
import '../faults/waiting.test';
