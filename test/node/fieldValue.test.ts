import { FieldValue } from '../../nodes/JobOrchestration/parameters/fieldValue';

/*
 * What n8n's own engine turns away before the node sees it, and what another way in may bring all the same.
 */

test.each([
	['a list', [{ id: 'a' }, { id: 'b' }], ['a', 'b']],
	['one record in place of a list', { id: 'a' }, ['a']],
	['nothing', undefined, []],
	['null', null, []],
])('the records of a fixed collection that holds %s', (_, input, ids) => {
	const records = new FieldValue('Inputs', { input }).records('input');
	expect(records.map((record) => record.member('id').text())).toEqual(ids);
	expect(records.map(({ field }) => field)).toEqual(ids.map((__, n) => `Inputs ${n + 1}`));
});

test('a fixed collection that is a text has no records', () => {
	expect(new FieldValue('Inputs', 'a text').records('input')).toEqual([]);
});

test.each([
	[
		['a', 1, true],
		['a', '1', 'true'],
	],
	['a', ['a']],
	['', []],
	[undefined, []],
])('the texts of %j', (value, texts) => {
	expect(new FieldValue('Output Fields', value).texts()).toEqual(texts);
});
