// @ts-check
// What the document has been doing of late: which nodes changed, and how, so that a ticker or a moving sprite is known
// before an action and is not taken for its effect. Runs from the start of every document and must cost next to nothing.

/** A node that changed this long before an action was already changing (the contract's 500 ms). */
const PULSE_MS = 500;
/** Attribute records a second above which attributes are watched during actions and waits only. */
const LOUD_RECORDS = 3000;

const pulse = {
  /** When something last happened that can move an element: a mutation, a scroll, a resize. */
  movedAt: 0,
  /** Whether attributes change so often that watching them all the time would cost. */
  loud: false,
  /** Actions and waits under way; while there are any, attributes are watched whatever it costs. */
  holds: 0,
  /** How nodes changed, and when they last did so: those of this span of 500 ms, and of the one before. */
  seen: /** @type {WeakMap<Node, Map<string, number>>} */ (new WeakMap()),
  seenBefore: /** @type {WeakMap<Node, Map<string, number>>} */ (new WeakMap()),
  spanFrom: 0,
  /** @type {Set<(records: MutationRecord[]) => void>} who wants every batch */
  listeners: new Set(),
  /** @type {Act | null} the action whose effects are being told apart */
  act: null,
  second: { from: 0, attributes: 0 },
  /** @type {MutationObserver | null} */
  observer: null,
  /** @type {WeakSet<Node>} */
  observed: new WeakSet(),
};

/** What moves what is drawn, and makes no mutation. */
const moved = () => { pulse.movedAt = performance.now(); };

/**
 * Starts watching, before the document has any content. Again at each action: a frame's first, empty document, once the page
 * has touched it, hands its window with this code in it, but without its listeners, on to one of the same origin.
 */
function startPulse() {
  pulse.observer ??= new MutationObserver(noteRecords);
  if (!pulse.observed.has(document)) observeRoot(document);
  // Adding the same listener twice adds it once.
  addEventListener('scroll', moved, { capture: true, passive: true });
  addEventListener('resize', moved, { passive: true });
}

/** @param {Node} root */
function observeRoot(root) {
  pulse.observed.add(root);
  pulse.observer?.observe(root, { subtree: true, childList: true, characterData: true, attributes: !pulse.loud || pulse.holds > 0 });
}

/** Watches the shadow roots that have come since. */
function observeRoots() {
  for (const root of allRoots()) if (!pulse.observed.has(root)) observeRoot(root);
}

/** Takes what the observer has not delivered yet. */
function flushPulse() {
  const records = pulse.observer?.takeRecords() ?? [];
  if (records.length) noteRecords(records);
}

/** Attributes are watched until the same number of `releasePulse()`. */
function holdPulse() {
  startPulse();
  if (pulse.holds++ === 0 && pulse.loud) reobserve();
  observeRoots();
}

function releasePulse() {
  if (pulse.holds === 0 || --pulse.holds > 0 || !pulse.loud) return;
  if (pulse.second.attributes < LOUD_RECORDS / 10) pulse.loud = false;
  else reobserve();
}

/** Observes every tree anew, with or without attributes: `observe` again replaces a node's options. */
function reobserve() {
  for (const root of allRoots()) observeRoot(root);
}

/** @param {MutationRecord[]} records */
function noteRecords(records) {
  const now = performance.now();
  pulse.movedAt = now;
  noteAdded(records);
  countAttributes(records, now);
  // While the parser runs, every record is the page coming into being.
  if (pulse.act || control.readyState(document) !== 'loading') {
    for (const record of records) noteRecord(record, now);
  }
  for (const listener of pulse.listeners) listener(records);
}

/**
 * @param {MutationRecord} record
 * @param {number} now
 */
function noteRecord(record, now) {
  if (now - pulse.spanFrom > PULSE_MS) {
    // What has not changed for two spans is forgotten with its map.
    pulse.seenBefore = now - pulse.spanFrom > 2 * PULSE_MS ? new WeakMap() : pulse.seen;
    pulse.seen = new WeakMap();
    pulse.spanFrom = now;
  }
  const ways = waysOf(record);
  const known = pulse.seen.get(record.target) ?? pulse.seenBefore.get(record.target);
  if (pulse.act && !pulse.act.over) {
    const ongoing = isOngoing(record, ways, known, pulse.act);
    if (!ongoing) { pulse.act.noteChange(record, now); return; }
  }
  const map = known ?? new Map();
  pulse.seen.set(record.target, map);
  for (const way of ways) map.set(way, now);
  if (map.size > 32) for (const [way, at] of map) if (now - at > PULSE_MS) map.delete(way);
}

/**
 * Whether a change during an action is one that went on before it: the same node changed in the same way within the
 * 500 ms before, or it lies in what such a change has brought.
 * @param {MutationRecord} record
 * @param {string[]} ways
 * @param {Map<string, number> | undefined} known
 * @param {Act} act
 * @returns {boolean}
 */
function isOngoing(record, ways, known, act) {
  if (known && ways.every((way) => (known.get(way) ?? -Infinity) >= act.startedAt - PULSE_MS)) {
    for (let i = 0; i < record.addedNodes.length; i++) act.brought.add(record.addedNodes[i]);
    return true;
  }
  let at = /** @type {Node | null} */ (record.target);
  for (let depth = 0; at && depth < 16; depth++, at = dom.parentOf(at)) if (act.brought.has(at)) return true;
  return false;
}

/**
 * How a record changed its node: which attribute, or what kind of nodes came and went. A list that gets a dialog is
 * changing in another way than by the rows it was getting.
 * @param {MutationRecord} record
 * @returns {string[]}
 */
function waysOf(record) {
  if (record.type === 'attributes') return ['@' + record.attributeName];
  if (record.type === 'characterData') return ['#'];
  const ways = new Set();
  for (let i = 0; i < record.addedNodes.length && i < 8; i++) ways.add('+' + shapeOf(record.addedNodes[i]));
  for (let i = 0; i < record.removedNodes.length && i < 8; i++) ways.add('-' + shapeOf(record.removedNodes[i]));
  return Array.from(ways);
}

/**
 * @param {Node} node
 * @returns {string}
 */
function shapeOf(node) {
  return isElement(node) ? `${dom.localName(node)}.${dom.attr(node, 'class') ?? ''}` : '#';
}

/**
 * @param {MutationRecord[]} records
 * @param {number} now
 */
function countAttributes(records, now) {
  const second = pulse.second;
  if (now - second.from > 1000) {
    second.from = now;
    second.attributes = 0;
  }
  for (const record of records) if (record.type === 'attributes') second.attributes++;
  if (second.attributes > LOUD_RECORDS && pulse.holds === 0 && !pulse.loud) {
    pulse.loud = true;
    reobserve();
  }
}
