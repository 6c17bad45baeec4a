// @ts-check
// File inputs: which one an upload is for, whether it shows or not.

/** File inputs that a file chooser was opened for, by ref number: a script may use one that is in no document. */
const chosenInputs = /** @type {Map<number, Element>} */ (new Map());
/** Such inputs kept; the oldest are forgotten beyond. */
const MAX_CHOSEN = 16;

/**
 * `tabd.fileInput({ref|selector,nth, prefix,next,end})`: the file input that the target is, is the label of, holds, or is
 * held next to; shown or not. Starts watching for the effects of what comes next.
 *
 * -> `{target:{ref,role,name}, input, multiple, directory, next}`: `input` is the number of the file input's ref, absent where
 * there is none: then the target may open a chooser when clicked.
 * Errors: `stale_ref not_found ambiguous bad_request disabled`.
 * @param {Locator} args
 * @returns {object}
 */
function fileInput(args) {
  const chosen = args.ref !== undefined && args.ref !== null ? chosenInputs.get(args.ref) : undefined;
  const el = chosen ?? elementFor(args);
  if (isFailure(el)) return el;
  const target = described(el, args);
  const input = inputFor(el);
  if (!input) return { target };
  if (isUnusable(input)) return failure('disabled', `${wordsFor(described(input, args))} is disabled`, 'do first what enables it');
  const number = numberOf(described(input, args));
  if (number === undefined) return { target };
  if (!dom.isConnected(input)) keepChosen(number, input);
  startAct(input, null, false);
  return { target, input: number, multiple: dom.hasAttr(input, 'multiple'), directory: dom.hasAttr(input, 'webkitdirectory') };
}

/**
 * @param {Element} el
 * @returns {boolean}
 */
function isFileInput(el) {
  return htmlName(el) === 'input' && dom.inputType(el) === 'file';
}

/**
 * @param {Element} el
 * @returns {Element | null}
 */
function inputFor(el) {
  for (let at = /** @type {Element | null} */ (el); at; at = flatParent(at)) {
    if (isFileInput(at)) return at;
    if (htmlName(at) !== 'label') continue;
    const labelled = dom.labelControl(at);
    if (labelled) return isFileInput(labelled) ? labelled : null;
  }
  const inside = Array.from(dom.queryAll(el, 'input')).filter(isFileInput);
  return inside.length === 1 ? inside[0] : null;
}

/**
 * @param {{ref?: string}} described
 * @returns {number | undefined}
 */
function numberOf(described) {
  return described.ref === undefined ? undefined : Number(described.ref.slice(described.ref.lastIndexOf('n') + 1));
}

/**
 * @param {number} number
 * @param {Element} input
 */
function keepChosen(number, input) {
  chosenInputs.set(number, input);
  for (const first of chosenInputs.keys()) {
    if (chosenInputs.size <= MAX_CHOSEN) break;
    chosenInputs.delete(first);
  }
}

/**
 * `tabd.chooser(input, lease)`, called with a remote object: a file chooser was opened for this input.
 *
 * -> `{ref, role, name, next}`
 * @param {Node} node
 * @param {Lease} lease
 * @returns {object}
 */
function chooser(node, lease) {
  const told = describeValue(node, lease);
  const number = numberOf(told);
  if (isElement(node) && number !== undefined) keepChosen(number, node);
  return told;
}
