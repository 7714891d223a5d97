// The page uses lit-html because lit-html escapes all texts that are inserted, such as the names of jobs.
import { html, nothing, render } from './lit-html.js';

const amount = (number) => number.toLocaleString('en');
const time = (at) =>
	html`<time>${at === null ? '–' : new Date(at).toLocaleTimeString('en-GB')}</time>`;
const note = (shown, all, which) =>
	shown < all ? `the ${which} ${amount(shown)} of ${amount(all)}` : amount(all);

/** Shortens a long path to its last 31 characters, because the end of a path tells the calls apart. */
const endOf = (path) => (path.length <= 32 ? path : `…${path.slice(-31)}`);

async function copy({ target }) {
	await navigator.clipboard.writeText(target.value);
	target.textContent = 'Copied';
	setTimeout(() => (target.textContent = 'Copy'), 1500);
}

const copyable = (text, what) =>
	html`<code>${text}</code>
		<button value=${text} title="Copy ${what}" @click=${copy}>Copy</button>`;

const list = (entries) =>
	html`<dl>
		${entries.map(
			([term, said]) =>
				html`<dt>${term}</dt>
					<dd>${said}</dd>`,
		)}
	</dl>`;

const table = (heads, rows) =>
	html`<div>
		<table>
			<thead>
				<tr>
					${heads.map((head) => html`<th>${head}</th>`)}
				</tr>
			</thead>
			<tbody>
				${rows}
			</tbody>
		</table>
	</div>`;

const jobRow = (job) => html`
	<tr>
		<td>
			<button name="open" title="Show inputs and outputs" @click=${() => openJob(job.uid)}>
				${job.displayName}
			</button>
			<br />${copyable(job.uid, 'the job ID')}
		</td>
		<td><mark class=${job.state}>${job.state}</mark></td>
		<td>${job.namespace}</td>
		<td>${job.cluster}</td>
		<td>${time(job.startedAt)}</td>
		<td>${time(job.finishedAt)}</td>
	</tr>
`;

const clusterRow = (cluster) => html`
	<tr>
		<td>${cluster.name}<br />${copyable(cluster.uid, 'the cluster ID')}</td>
		<td>${cluster.type}</td>
		<td><mark class=${cluster.phase}>${cluster.phase}</mark></td>
		<td>${amount(cluster.jobs)}</td>
	</tr>
`;

const callRow = (call) => html`
	<tr>
		<td>
			${call.what}<br /><small>${call.method} ${endOf(call.path)}</small>
			${call.reason === null ? nothing : html`<br /><strong>${call.reason}</strong>`}
		</td>
		<td>
			<mark class=${call.status !== null && call.status < 400 ? 'succeeded' : 'terminated'}
				>${call.status ?? 'no answer'}</mark
			>
		</td>
		<td>${time(call.at)}</td>
	</tr>
`;

const firstSteps = html`
	<p>No jobs yet. To create one in n8n:</p>
	<ol>
		<li>Add the node <em>Job Orchestration</em> with the action <em>Create job</em>.</li>
		<li>
			Choose the credential <em>Job Orchestration Sandbox</em>, which <code>npm start</code> has
			created. In another n8n, create one of the type <em>Job Orchestration API</em> with the login
			shown here.
		</li>
		<li>Choose a Work Cluster from its list. Any Workflow UID and any Display Name will do.</li>
		<li>Execute the node. The job shows up here.</li>
	</ol>
`;

const notes = html`
	<ul>
		<li>Any Workflow UID is accepted. A job does nothing here but take time.</li>
		<li>
			A job of the workflow <code>call-when-done</code> calls the address in its input
			<code>callbackUrl</code> when it has succeeded. Only an address on this machine is accepted.
			In its call, <code>outputs</code> has the value of each output of the job. Its input
			<code>seconds</code> says how long it runs: five by default. <code>calls</code> is the number
			of its calls, and <code>contentType</code> is their content type.
		</li>
		<li>Everything is kept in memory, and is lost when the sandbox stops.</li>
	</ul>
`;

const details = ({ displayName, fields, inputs, outputs, callback }) => html`
	<h2>${displayName} <button @click=${closeJob}>Close</button></h2>
	${list(
		Object.entries(fields).map(([label, text]) => [
			label,
			label === 'Job ID' ? copyable(text, 'the job ID') : text,
		]),
	)}
	<h3>Inputs</h3>
	<pre>${inputs}</pre>
	<h3>Outputs</h3>
	<pre>${outputs}</pre>
	${callback === null
		? nothing
		: html`<h3>At its end</h3>
				<p>${callback}</p>`}
`;

const page = ({ logIn, jobs, clusters, calls }, isLive) => html`
	<header>
		<h1>Job orchestration sandbox</h1>
		${Object.entries(jobs.counts).map(
			([state, count]) =>
				html`<mark class=${count ? state : nothing}>${amount(count)} ${state}</mark>`,
		)}
		<output>${isLive ? 'live' : 'the sandbox doesn’t answer'}</output>
	</header>
	<main>
		<section>
			<h2>
				Jobs <small>${jobs.total ? note(jobs.newest.length, jobs.total, 'newest') : ''}</small>
			</h2>
			${jobs.total
				? table(
						['Job and its ID', 'State', 'Namespace', 'Cluster', 'Started', 'Finished'],
						jobs.newest.map(jobRow),
					)
				: firstSteps}
		</section>
		<aside>
			<section>
				<h2>Login <small>for the credential in n8n</small></h2>
				${list([
					['Base URL', copyable(location.origin + logIn.pathPrefix, 'the Base URL')],
					['Username', copyable(logIn.userName, 'the user name')],
					[
						'Password',
						logIn.password === null
							? 'the one that the sandbox was started with'
							: copyable(logIn.password, 'the password'),
					],
				])}
			</section>
			<section>
				<h2>Latest calls <small>${amount(calls.total)} so far</small></h2>
				${calls.total
					? table(['Call', 'Status', 'Time'], calls.latest.map(callRow))
					: html`<p>No calls yet.</p>`}
			</section>
			<section>
				<h2>Clusters <small>${note(clusters.first.length, clusters.total, 'first')}</small></h2>
				${table(['Cluster and its ID', 'Type', 'Phase', 'Jobs'], clusters.first.map(clusterRow))}
			</section>
			<section>
				<h2>Good to know</h2>
				${notes}
			</section>
		</aside>
	</main>
	<dialog></dialog>
`;

const dialog = () => document.querySelector('dialog');
let openUid;

async function openJob(uid) {
	openUid = uid;
	await refreshJob();
	dialog().showModal();
}

function closeJob() {
	openUid = undefined;
	dialog().close();
}

async function refreshJob() {
	const answer = await fetch(`page/jobs/${openUid}`);
	if (answer.ok) render(details(await answer.json()), dialog());
}

let seen;

async function refresh() {
	let isLive = true;
	try {
		const answer = await fetch('page/snapshot');
		seen = await answer.json();
		if (dialog()?.open) await refreshJob();
	} catch {
		isLive = false;
	}
	if (seen) render(page(seen, isLive), document.body);
	setTimeout(() => void refresh(), document.hidden ? 5000 : 1000);
}

void refresh();
