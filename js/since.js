// @ts-check
// `since`: what changed in a view. The last views of this document are kept, as keys of their records.
//
// Applied to the base, a change gives the new view exactly: take out what `removed` names and what `changed` holds, each
// with the texts behind it; then put each added or changed node, as soon as it is there, behind the node `after` names
// (first, if it is empty). Texts have no ref: they belong to the ref before them, and come behind it as added in their
// order. Where a text differs, its ref comes again as changed, with all its texts. What comes is always whole nodes, never
// lines of an outline.

/** @typedef {{args: string, refs: Map<string, {at: number, key: string}>, leading: string}} Snapshot */

/** Views kept. */
const MAX_SNAPSHOTS = 8;
/** @type {Map<string, Snapshot>} */
const snapshots = new Map();

/**
 * Keeps a view and, where `since` names one of the same arguments, tells the difference.
 * @param {ViewRecord[]} records @param {ReadArgs} args
 * @returns {{base: string | null, lines: string[], removed: string[], sent: Set<string>, last: string}} `last` the last ref of the view
 */
function sinceSnapshot(records, args) {
  const { since, snapshot, prefix, next, end, budget_ms, ...same } = args;
  const argsKey = JSON.stringify(same, Object.keys(same).sort().concat('ref', 'selector'));
  const groups = groupsOf(records);
  /** @type {Snapshot} */
  const now = { args: argsKey, refs: new Map(), leading: groups[0].key };
  groups.forEach((group, at) => at > 0 && now.refs.set(group.ref, { at, key: group.key }));
  const old = since ? snapshots.get(since) : undefined;
  const base = old && old.args === argsKey && old.leading === now.leading ? old : null;
  if (snapshot) {
    snapshots.delete(snapshot);
    snapshots.set(snapshot, now);
    for (const id of snapshots.keys()) {
      if (snapshots.size <= MAX_SNAPSHOTS) break;
      snapshots.delete(id);
    }
  }
  if (!base) return { base: null, lines: records.map(recordLine), removed: [], sent: new Set(), last: '' };
  const removed = [...base.refs.keys()].filter((ref) => !now.refs.has(ref));
  const staying = longestRise(groups.slice(1).map((group) => base.refs.get(group.ref)?.at ?? -1));
  /** @type {string[]} */
  const lines = [];
  const sent = new Set();
  let after = '';
  groups.forEach((group, i) => {
    if (i === 0) return;
    const was = base.refs.get(group.ref);
    if (!was || was.key !== group.key || !staying.has(i - 1)) {
      sent.add(group.ref);
      group.records.forEach((record, k) => lines.push(`${was && k === 0 ? 'C' : 'A'}\t${k === 0 ? after : group.ref}\t${recordLine(nodeOf(record, args))}`));
    }
    after = group.ref;
  });
  return { base: /** @type {string} */ (since), lines, removed, sent, last: after };
}

/** A record as a node. @param {ViewRecord} record @param {ReadArgs} args @returns {ViewRecord} */
function nodeOf(record, args) {
  return record.tail === '' ? nodeRecord(record.entry, args) ?? record : record;
}

/**
 * Records by the ref they belong to; the first group, of no ref, holds the texts before any.
 * @param {ViewRecord[]} records
 */
function groupsOf(records) {
  /** @type {{ref: string, key: string, records: ViewRecord[]}[]} */
  const groups = [{ ref: '', key: '', records: [] }];
  for (const record of records) {
    if (record.ref !== '') groups.push({ ref: record.ref, key: '', records: [] });
    const group = groups[groups.length - 1];
    group.records.push(record);
    group.key += `${record.depth} ${record.key}\n`;
  }
  return groups;
}

/**
 * Indices of a longest rising row of `at` (negative ones apart): the nodes that need not move.
 * @param {number[]} at
 * @returns {Set<number>}
 */
function longestRise(at) {
  /** @type {number[]} */
  const ends = [];
  /** @type {number[]} */
  const before = [];
  at.forEach((value, i) => {
    if (value < 0) return;
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at[ends[middle]] < value) low = middle + 1;
      else high = middle;
    }
    before[i] = low > 0 ? ends[low - 1] : -1;
    ends[low] = i;
  });
  const rise = new Set();
  for (let i = ends.length > 0 ? ends[ends.length - 1] : -1; i >= 0; i = before[i]) rise.add(i);
  return rise;
}
