// @ts-check
// What the daemon can call: `tabd.NAME({...})`, one entry a call. The only file that sees JSON.
//
// A call answers with one string. Expected failures are values: `{"error": code, "message", "hint", "data"}`, the codes
// those of the contract; a thrown exception is a bug. A call that may number elements gets its lease with its arguments
// (`prefix`, `next`, `end`: see refs.js) and answers with the new `next`.
//
// `js/` holds nothing else that runs by itself: the build joins the files, this one last, and sets `globalThis.tabd = api`.

//
// What only the daemon can see it brings in before a view, as remote objects through `Runtime.callFunctionOn`:
//
// - Listeners. `DOMDebugger.getEventListeners` of `document` (depth -1, pierce) lists all with `backendNodeId`; of types in
//   clickable.js. Ids new since the last time are resolved into this world (`DOM.resolveNode` with its context id) and handed
//   to `adoptListeners([ids], [elements], [ids gone])`. The object group of `document` holds the handlers: release it.
// - Closed shadow roots. A header with `hidden_roots` > 0 means elements that may host one. `closedCandidates()` returns
//   them, not as a string but as a list to take apart with `Runtime.getProperties`; `DOM.describeNode` of each tells whether
//   it has a root of `shadowRootType` closed, `DOM.resolveNode` of its `backendNodeId` brings it in, `adoptClosedRoot(host,
//   root)` makes it part of the tree. Then read again: roots may stand in roots. Each candidate is named once.
// - Frames. `adoptFrame(element, N)`: the element holds `fN`.

/** @type {Record<string, (...args: any[]) => any>} */
const api = {
  // Seeing.
  read: (args) => answer(() => read(args)),
  find: (args) => answer(() => find(args)),
  text: (args) => answer(() => text(args)),
  html: (args) => answer(() => html(args)),
  marks: (args) => answer(() => leased(args, marks(args))),
  annotate: (args) => answerLater(leasedLater(args, annotate(args))),

  // Acting.
  locate: (args) => answer(() => leased(args, locate(args))),
  recheck: (args) => answerLater(leasedLater(args, recheck(args))),
  urlMatches: (args) => answer(() => urlMatches(args)),
  hit: (args) => answer(() => leased(args, hit(args))),
  watch: (args) => answer(() => leased(args, watch(args))),
  textValue: (args) => answer(() => leased(args, fieldValue(args))),
  scroll: (args) => answer(() => leased(args, scroll(args))),
  dragging: (args) => answer(() => leased(args, dragging(args))),
  dropSpot: (args) => answerLater(leasedLater(args, dropSpot(args))),
  fileInput: (args) => answer(() => leased(args, fileInput(args))),
  release: () => answer(() => endAct()),
  aim: (args) => answerLater(leasedLater(args, aim(args))),
  prepareText: (args) => answerLater(leasedLater(args, prepareText(args))),
  focus: (args) => answerLater(leasedLater(args, focus(args))),
  choose: (args) => answerLater(leasedLater(args, choose(args))),
  settle: (args) => answerLater(leasedLater(args, settle(args))),
  wait: (args) => answerLater(leasedLater(args, wait(args))),
  box: (args) => answerLater(leasedLater(args, box(args))),
  nextChange: (args) => answerLater(changeIn(args)),

  // Called with remote objects instead of JSON.
  describe: (node, lease) => answer(() => leased(lease, describeValue(node, lease))),
  chooser: (node, lease) => answer(() => leased(lease, chooser(node, lease))),
  adoptFrame: (el, frame) => answer(() => adoptFrame(el, frame)),
  adoptClosedRoot: (host, root) => answer(() => adoptClosedRoot(host, root)),
  adoptListeners: (ids, els, gone) => answer(() => adoptListeners(ids, els, gone)),
  closedCandidates,
  // Answers with the element itself.
  element: (number) => elementOf(number) ?? chosenInputs.get(number),
};

/**
 * Runs a call with the caches of roles, names and styles alive, and makes its result a string.
 * @param {() => unknown} call
 * @returns {string}
 */
function answer(call) {
  forgetReading();
  beginReading();
  try {
    const result = call();
    return typeof result === 'string' ? result : JSON.stringify(result ?? {});
  } finally {
    endReading();
  }
}

/**
 * As `answer`, for a call that waits. Its code opens `beginReading()` .. `endReading()` itself, never across an `await`.
 * @param {Promise<unknown>} call
 * @returns {Promise<string>}
 */
async function answerLater(call) {
  const result = await call;
  return typeof result === 'string' ? result : JSON.stringify(result ?? {});
}

/**
 * A result together with what is left of the lease.
 * @param {{next: number}} args
 * @param {object} result
 * @returns {object}
 */
function leased(args, result) {
  return { ...result, next: args.next };
}

/**
 * @param {{next: number}} args
 * @param {Promise<object>} result
 * @returns {Promise<object>}
 */
async function leasedLater(args, result) {
  return leased(args, await result);
}

// From the start of the document: what goes on in it by itself.
startPulse();
refusePointerLock();
