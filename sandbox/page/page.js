import { badge, button, cell, copyable, element, lines, row, terms } from './elements.js';

const byId = (id) => document.getElementById(id);
const amount = (number) => number.toLocaleString('en');
const time = (at) => (at === null ? '–' : new Date(at).toLocaleTimeString('en-GB'));

function jobRow(job) {
	const open = () => void openJob(job);
	return row(
		lines(
			job.displayName,
			button(job.displayName, open, { className: 'title', title: 'Show inputs and outputs' }),
			copyable(job.uid, 'the job ID', 'small'),
		),
		badge(job.state, job.state),
		cell(job.namespace),
		cell(job.cluster, 'spare'),
		cell(time(job.startedAt), 'time spare'),
		cell(time(job.finishedAt), 'time spare'),
	);
}

function clusterRow(cluster) {
	return row(
		lines(cluster.name, cluster.name, copyable(cluster.uid, 'the cluster ID', 'small')),
		cell(cluster.type),
		badge(cluster.phase, cluster.phase),
		cell(amount(cluster.jobs), 'number'),
	);
}

/** What matters of a path is at its end. */
const endOf = (path) => (path.length <= 24 ? path : `…${path.slice(-23)}`);

function callRow(call) {
	const address = `${call.method} ${call.path}`;
	const reason = element('small', { text: call.reason, className: 'reason' });
	return row(
		lines(
			[address, call.reason ?? []].flat().join('\n'),
			call.what,
			element('small', { text: `${call.method} ${endOf(call.path)}` }),
			...(call.reason === null ? [] : [reason]),
		),
		badge(call.status ?? 'no answer', call.status !== null && call.status < 400 ? 'good' : 'bad'),
		cell(time(call.at), 'time'),
	);
}

function logInTerms({ pathPrefix, userName, password }) {
	return [
		['Base URL', copyable(location.origin + pathPrefix, 'the Base URL')],
		['User Name', copyable(userName, 'the user name')],
		[
			'Password',
			password === null
				? 'the one that the sandbox was started with'
				: copyable(password, 'the password'),
		],
	];
}

let openUid;

/** Shows a job, and keeps showing it as it changes, until it is closed. */
async function openJob({ uid, displayName }) {
	openUid = uid;
	byId('job-title').textContent = displayName;
	byId('job-details').replaceChildren();
	shown.delete('job-details');
	byId('job').showModal();
	await refreshJob();
}

async function refreshJob() {
	if (!byId('job').open) return;
	const answer = await fetch(`page/jobs/${openUid}`);
	if (answer.ok) fill('job-details', [await answer.json()], jobParts);
}

function jobParts({ fields, inputs, outputs, callback }) {
	return element('div', {
		children: [
			list(Object.entries(fields).map(fieldTerm)),
			...parameters('Inputs', inputs),
			...parameters('Outputs', outputs),
			...(callback === null
				? []
				: [element('h3', { text: 'At its end' }), element('p', { text: callback })]),
		],
	});
}

const list = (entries) => element('dl', { children: terms(entries) });

const fieldTerm = ([label, text]) => [
	label,
	label === 'Job ID' ? copyable(text, 'the job ID') : text,
];

function parameters(heading, given) {
	return [
		element('h3', { text: heading }),
		given.length === 0
			? element('p', { text: 'none' })
			: list(
					given.map(({ id, value }) => [id || '(no ID)', element('code', { text: value || '–' })]),
				),
	];
}

/** Fills a part of the page, but only if there is anything new, so that a selection stays. */
const shown = new Map();
function fill(id, data, makeOne) {
	const text = JSON.stringify(data);
	if (shown.get(id) === text) return;
	shown.set(id, text);
	byId(id).replaceChildren(...data.flatMap(makeOne));
}

function show({ logIn, jobs, clusters, calls }) {
	const states = Object.entries(jobs.counts);
	const all = states.reduce((sum, [, count]) => sum + count, 0);
	fill('counts', states, ([state, count]) =>
		element('li', {
			className: `state ${count ? state : 'none'}`,
			text: `${amount(count)} ${state}`,
		}),
	);
	fill('log-in', [logIn], (data) => terms(logInTerms(data)));
	fill('jobs', jobs.newest, jobRow);
	fill('clusters', clusters.first, clusterRow);
	fill('calls', calls.latest, callRow);
	byId('jobs-note').textContent = all ? note(jobs.newest.length, all, 'newest') : '';
	byId('clusters-note').textContent = note(clusters.first.length, clusters.total, 'first');
	byId('calls-note').textContent = `${amount(calls.total)} so far`;
	byId('no-jobs').hidden = all > 0;
	byId('no-calls').hidden = calls.total > 0;
}

function note(shownCount, all, which) {
	return shownCount < all ? `the ${which} ${amount(shownCount)} of ${amount(all)}` : amount(all);
}

function say(connected) {
	byId('link').textContent = connected ? 'live' : 'the sandbox doesn’t answer';
	byId('link').classList.toggle('lost', !connected);
}

async function refresh() {
	try {
		const answer = await fetch('page/snapshot');
		show(await answer.json());
		await refreshJob();
		say(true);
	} catch {
		say(false);
	}
	setTimeout(refresh, document.hidden ? 5000 : 1000);
}

byId('close-job').addEventListener('click', () => byId('job').close());
refresh();
