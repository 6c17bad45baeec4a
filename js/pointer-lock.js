// @ts-check
// Pointer lock: given up at once. There is no mouse whose moves could be told apart from its place, and a browser without
// windows is kept busy putting the locked pointer back, until nothing else gets done.

const exitLock = /** @type {(doc: Document) => void} */ (method(Document.prototype, 'exitPointerLock'));
const lockElement = /** @type {(doc: Document) => Element | null} */ (getter(Document.prototype, 'pointerLockElement'));

/** From now on gives up the pointer lock whenever the page gets it, as a person does with Escape. */
function refusePointerLock() {
  const changed = () => { if (lockElement(document)) exitLock(document); };
  document.addEventListener('pointerlockchange', changed, true);
}
