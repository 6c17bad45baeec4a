// @ts-check
// Before text is typed: the field has the focus and what it holds is selected. The text itself is the daemon's to send, as
// trusted input; only values that are not text (dates, colours, ranges) are set here.

/**
 * `tabd.prepareText({ref|selector,nth, prefix,next,end, text, append?, budget_ms})`: waits, up to `budget_ms`, until the field
 * is shown, enabled and writable, scrolls it into view, focuses it (the focused element without a target), selects its
 * content or, with `append`, puts the caret at its end, and starts watching for effects. No click: a click would press what
 * lies over the field, move sliders and open pickers.
 *
 * -> `{mode, keys_before, insert?, keys?, target:{ref,role,name}, tag, type?, kind, value, waited_ms, next}`; the daemon sends
 * - `mode:"insert"`: `Input.insertText` of `insert` (where it is not ""), then each character of `keys` as a key: the last one,
 *   where a key can write it, so that pages that listen to keys (suggestions on `keyup`) hear of the text;
 * - `"keys"`: each character of `keys` as a key (one-time-code boxes, where the page moves the focus on; fields that show
 *   nothing, whose page draws what it hears);
 * - `"empty"`: the Delete key; `"native"`, `"none"`: nothing, the value is set already.
 * - before that the chords of `keys_before`, in order (`"Control+A"`, `"Control+End"`, `"End"`): rich editors, of which many
 *   keep a document of their own behind the one that shows, know their whole content only by the keyboard.
 * `value`: what the field holds now. Then `settle`, whose `value` is what it holds afterwards.
 * Errors: as of `aim` without `covered`; `not_editable` also where the focus did not stay (`data.by`); `bad_request` where a
 * native field does not take the text, naming the format.
 *
 * @param {Locator & {text: string, append?: boolean, budget_ms: number}} args
 * @returns {Promise<object>}
 */
async function prepareText(args) {
  const began = performance.now(), end = began + args.budget_ms;
  endAct();
  for (;;) {
    const outcome = await focusField(args);
    if (!isFailure(outcome)) {
      const field = outcome;
      startAct(field, null, false);
      const step = prepareField(field, args);
      if (isFailure(step)) { endAct(); return step; }
      return { ...step, ...targetOf(field, args), value: contentOf(field), waited_ms: Math.round(performance.now() - began) };
    }
    const left = end - performance.now();
    if (left <= 0 || !isPassing(outcome) || (outcome.error === 'not_editable' && !outcome.data?.may_pass)) return outcome;
    await nextChange(Math.min(left, 250));
  }
}

/**
 * One try to give the focus to the field a locator means.
 * @param {Locator} args
 * @returns {Promise<Element | Failure>}
 */
async function focusField(args) {
  const el = elementFor(args);
  if (isFailure(el)) return el;
  const field = fieldOf(el);
  if (!field) return notEditable(el, args);
  const obstacle = obstacleOf(field, args);
  if (obstacle) return obstacle;
  if (isReadonly(field)) return failure('not_editable', `${wordsFor(described(field, args))} is read-only`, 'do first what makes it writable', { may_pass: true });
  if (!isInView(field)) reveal(field, 0);
  // A page may move the focus on when it gets it; what it does in the next frame or two is seen as well.
  for (let attempt = 0; attempt < 3; attempt++) {
    if (focusedElement() !== field) focusOn(field, { preventScroll: true });
    if (focusedElement() === field) return field;
    await nextFrame();
    if (focusedElement() === field) return field;
  }
  const thief = focusedElement();
  const by = thief ? described(thief, args) : undefined;
  return failure('not_editable', `${wordsFor(described(field, args))} does not keep the focus${by ? `: it goes to ${wordsFor(by)}` : ''}`, 'click it first, or type into what has the focus', { by });
}

/**
 * @param {Element} field
 * @param {{text: string, append?: boolean} & Lease} args
 * @returns {{mode: string, keys_before: string[], insert?: string, keys?: string} | Failure}
 */
function prepareField(field, args) {
  const kind = editableKind(field);
  if (kind === 'native') return setNativeValue(field, args);
  if (isCodeBox(field, args.text)) { selectContent(field, kind); return { mode: 'keys', keys_before: [], keys: args.text }; }
  const hidden = kind === 'area' && isSliver(field);
  const empty = contentOf(field) === '' && !hidden && !(kind === 'rich' && flatChildren(field).length > 1);
  if (args.text === '') {
    if (args.append || empty) return { mode: 'none', keys_before: [] };
    return { mode: 'empty', keys_before: selectContent(field, kind) };
  }
  const keys_before = args.append ? caretToEnd(field, kind) : selectContent(field, kind);
  if (kind === 'text' && args.text.length <= MAX_KEYS && isUnseenField(field)) return { mode: 'keys', keys_before, keys: args.text };
  // The last character as a key where one writes it by itself; after a newline or a composed character it would tear.
  const cut = /[\x20-\x7e]$/.test(args.text) ? args.text.length - 1 : args.text.length;
  return { mode: 'insert', keys_before: empty ? [] : keys_before, insert: args.text.slice(0, cut), keys: args.text.slice(cut) };
}

/**
 * Selects what the field holds.
 * @param {Element} field
 * @param {string} kind
 * @returns {string[]} chords that do the rest
 */
function selectContent(field, kind) {
  if (kind === 'text') control.selectInput(field);
  else if (kind === 'area') {
    control.selectArea(field);
    // A text area of a few pixels is the keyboard's end of an editor: what it holds is not the document.
    if (isSliver(field)) return ['Control+A'];
  } else {
    selectNodes(field, false);
    return ['Control+A'];
  }
  return [];
}

/**
 * @param {Element} field
 * @param {string} kind
 * @returns {string[]} chords that do the rest
 */
function caretToEnd(field, kind) {
  const length = contentOf(field).length;
  if (kind === 'area') {
    control.setAreaRange(field, length, length);
    return isSliver(field) ? ['Control+End'] : [];
  }
  if (kind === 'rich') {
    selectNodes(field, true);
    return ['Control+End'];
  }
  // https://html.spec.whatwg.org/#do-not-apply: number and email fields have no selection to set.
  if (/^(number|email)$/.test(dom.inputType(field))) return ['End'];
  control.setInputRange(field, length, length);
  return [];
}

/**
 * @param {Element} el
 * @param {boolean} atEnd
 */
function selectNodes(el, atEnd) {
  const selection = control.selectionOf(document);
  if (!selection) return;
  const range = new Range();
  range.selectNodeContents(el);
  if (atEnd) range.collapse(false);
  selection.removeAllRanges();
  selection.addRange(range);
}

/** Texts longer than this are inserted into a field that shows nothing, too. */
const MAX_KEYS = 1000;

/**
 * Whether a field that has the focus shows nothing of what is typed: the keyboard's end of something that the page draws
 * from the keys it hears, such as a terminal.
 * @param {Element} field
 * @returns {boolean}
 */
function isUnseenField(field) {
  if (isSliver(field)) return true;
  for (let at = /** @type {Element | null} */ (field); at; at = flatParent(at)) if (dom.styleOf(at).opacity === '0') return true;
  return false;
}

/**
 * @param {Element} el
 * @returns {boolean}
 */
function isSliver(el) {
  const r = dom.rectOf(el);
  return r.width < 8 || r.height < 8;
}

/**
 * `tabd.textValue({ref|selector,nth, prefix,next,end})` -> `{value}`: what a field holds now.
 * @param {Locator} args
 * @returns {object}
 */
function fieldValue(args) {
  const el = elementFor(args);
  if (isFailure(el)) return el;
  return { value: contentOf(fieldOf(el) ?? el) };
}

/**
 * `tabd.focus({ref|selector,nth, prefix,next,end, budget_ms})`: waits until the element is shown and enabled, gives it the
 * focus, and starts watching: what `press` with a target needs.
 *
 * -> `{target, tag, type?, kind, next}`. Errors: as of `aim` without `covered not_stable`; `not_editable` where it takes no focus.
 * @param {Locator & {budget_ms: number}} args
 * @returns {Promise<object>}
 */
async function focus(args) {
  const end = performance.now() + args.budget_ms;
  endAct();
  for (;;) {
    const el = elementFor(args);
    const obstacle = isFailure(el) ? el : obstacleOf(el, args);
    if (!isFailure(el) && !obstacle) {
      if (!isInView(el)) reveal(el, 0);
      focusOn(el, { preventScroll: true });
      const got = focusedElement();
      if (got && isFlatInside(got, el)) {
        startAct(el, null, false);
        return targetOf(el, args);
      }
      return failure('not_editable', `${wordsFor(described(el, args))} does not take the focus`, 'click it first, then press without a target', { by: got ? described(got, args) : undefined });
    }
    const left = end - performance.now();
    if (left <= 0 || !obstacle || !isPassing(obstacle)) return /** @type {Failure} */ (obstacle);
    await nextChange(Math.min(left, 250));
  }
}
