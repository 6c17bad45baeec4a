// @ts-check
// File inputs: which one a target means.

/**
 * `tabd.fileInput({ref|selector,nth, prefix,next,end, files, budget_ms})`: waits until the input is there and enabled, shown
 * or not, and starts watching for effects. A label means its input; what holds just one means that one.
 *
 * Without `files` it is emptied, with the events of a choice.
 * -> `{target, next}`. Errors: `stale_ref not_found ambiguous disabled`; `not_editable` for what is no file input;
 * `bad_request` for several `files` where it takes one.
 * @param {Locator & {files: number, budget_ms: number}} args
 * @returns {Promise<object>}
 */
async function fileInput(args) {
  const end = performance.now() + args.budget_ms;
  endAct();
  for (;;) {
    const outcome = fileInputNow(args);
    const left = end - performance.now();
    if (!isFailure(outcome) || left <= 0 || !isPassing(outcome) || outcome.error === 'not_editable') return outcome;
    await nextChange(Math.min(left, 250));
  }
}

/**
 * @param {Locator & {files: number}} args
 * @returns {object}
 */
function fileInputNow(args) {
  const named = elementFor(args);
  if (isFailure(named)) return named;
  const el = fileInputOf(named);
  if (!el) return failure('not_editable', `${wordsFor(described(named, args))} is no file input`, 'click it: if a chooser opens, effect.chooser names its input');
  if (isUnusable(el)) return failure('disabled', `${wordsFor(described(el, args))} is disabled`, 'do first what enables it');
  if (args.files > 1 && !dom.hasAttr(el, 'multiple') && !dom.hasAttr(el, 'webkitdirectory')) {
    return failure('bad_request', `${wordsFor(described(el, args))} takes one file, not ${args.files}`, 'give one file');
  }
  startAct(el, null, false);
  // The browser's own way of choosing leaves what was chosen where nothing is.
  if (args.files === 0 && dom.value(el) !== '') {
    control.setInputValue(el, '');
    dispatch(el, new Event('input', { bubbles: true, composed: true }));
    dispatch(el, new Event('change', { bubbles: true }));
  }
  return { target: described(el, args) };
}

/**
 * @param {Element} el
 * @returns {Element | null}
 */
function fileInputOf(el) {
  const isOne = (/** @type {Element} */ at) => htmlName(at) === 'input' && dom.inputType(at) === 'file';
  if (isOne(el)) return el;
  const labelled = htmlName(el) === 'label' ? dom.labelControl(el) : null;
  if (labelled) return isOne(labelled) ? labelled : null;
  const inside = [...dom.queryAll(el, 'input')].filter(isOne);
  return inside.length === 1 ? inside[0] : null;
}
