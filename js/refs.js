// @ts-check
// Refs: which number stands for which element of this document, and back.
//
// An element keeps its number for its life in the document: taken out it is stale, put back it has its number again.
// Numbers come from a lease the daemon gives with each call, so that no number is ever used twice, in any document.

/**
 * What a call may number: refs are written `prefix` + number, numbers run from `next` up to, not including, `end`.
 * A call's arguments are its lease; `next` moves on as numbers are given out and goes back with the reply.
 * @typedef {{prefix: string, next: number, end: number}} Lease
 */

/**
 * @typedef {{n: number, weak: WeakRef<Element>, role: string, name: string}} RefRecord
 */

/** @type {WeakMap<Element, RefRecord>} */
const recordOfElement = new WeakMap();
/** @type {Map<number, RefRecord>} */
const recordOfNumber = new Map();
/** Records of elements that are gone are swept when the map has grown to this; then it may double before the next sweep. */
const refSweep = { at: 50000 };

/**
 * The number of `el`, a new one from the lease where it has none; 0 where the lease has run out.
 * @param {Element} el
 * @param {Lease} lease
 * @returns {number}
 */
function refOf(el, lease) {
  return refRecord(el, lease)?.n ?? 0;
}

/**
 * The record of `el`, made where there is none.
 * @param {Element} el
 * @param {Lease} lease
 * @returns {RefRecord | undefined} undefined where the lease has run out
 */
function refRecord(el, lease) {
  const known = recordOfElement.get(el);
  if (known) return known;
  if (!(lease.next < lease.end)) return undefined;
  if (recordOfNumber.size >= refSweep.at) sweepRefs();
  const record = { n: lease.next++, weak: new WeakRef(el), role: '', name: '' };
  recordOfElement.set(el, record);
  recordOfNumber.set(record.n, record);
  return record;
}

/**
 * The element a number stands for, while it is in this document.
 * @param {number} n
 * @returns {Element | undefined}
 */
function elementOf(n) {
  const el = recordOfNumber.get(n)?.weak.deref();
  return el && dom.isConnected(el) && dom.documentOf(el) === document ? el : undefined;
}

/**
 * The role and name an element had when its ref was last given out, also when it is gone.
 * @param {number} n
 * @returns {{role: string, name: string} | undefined} undefined for a number never given out here, or long gone
 */
function rememberedOf(n) {
  return recordOfNumber.get(n);
}

/**
 * How replies name an element: ref, role and name, all as `read` gives them.
 * @param {Element} el
 * @param {Lease} lease
 * @returns {{ref: string | undefined, role: string, name: string}} without `ref` where the lease has run out
 */
function describe(el, lease) {
  const role = roleOf(el) || 'generic', name = safeName(nameOf(el));
  const record = refRecord(el, lease);
  if (record) { record.role = role; record.name = name; }
  return { ref: record && lease.prefix + record.n, role, name };
}

function sweepRefs() {
  for (const [n, record] of recordOfNumber) if (!record.weak.deref()) recordOfNumber.delete(n);
  refSweep.at = Math.max(50000, 2 * recordOfNumber.size);
}
