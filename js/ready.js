// @ts-check
// Whether an element can be acted on: shown, enabled, editable. What lies over it is spot.js's question.

/**
 * Whether a person could see the element if nothing lay over it: drawn, with a box of its own or of something in it.
 * What a modal dialog makes inert still counts: that it is covered is the better answer.
 * @param {Element} el
 * @returns {boolean}
 */
function isShown(el) {
  if (htmlName(el) === 'area') return areaImage(el) !== null;
  if (!dom.checkVisibility(el, { visibilityProperty: true })) return dom.styleOf(el).display === 'contents' && boxesOf(el).length > 0;
  return boxesOf(el).length > 0;
}

/**
 * Whether the element does not answer to its user: natively, through a fieldset or an option group, by `aria-disabled` on
 * itself or around it, or because it is inside of a disabled button, which gets no clicks for its content.
 * @param {Element} el
 * @returns {boolean}
 */
function isUnusable(el) {
  const first = htmlName(el) === 'label' ? dom.labelControl(el) ?? el : el;
  for (let at = /** @type {Element | null} */ (first); at; at = flatParent(at)) {
    // https://w3c.github.io/aria/#aria-disabled: the state of an element and of all focusable elements in it.
    if (dom.attr(at, 'aria-disabled')?.toLowerCase() === 'true') return true;
    if ((at === first || htmlName(at) === 'button') && dom.matches(at, ':disabled')) return true;
    if (at === first && htmlName(at) === 'option' && isDisabledOption(at)) return true;
  }
  return false;
}

/**
 * @param {Element} option
 * @returns {boolean}
 */
function isDisabledOption(option) {
  for (let at = /** @type {Element | null} */ (option); at; at = elementAbove(at)) {
    if (dom.matches(at, ':disabled')) return true;
    if (htmlName(at) === 'select') return false;
  }
  return false;
}

/**
 * Whether the element or one around it is `inert`.
 * @param {Element} el
 * @returns {boolean}
 */
function isInert(el) {
  for (let at = /** @type {Element | null} */ (el); at; at = flatParent(at)) if (dom.hasAttr(at, 'inert')) return true;
  return false;
}

/** Input types that hold text as typed. */
const TEXT_TYPES = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number']);
/** Input types whose value is not text, and how the value of each is written. */
const NATIVE_FORMATS = Object.freeze(/** @type {Record<string, string>} */ ({
  'date': 'YYYY-MM-DD, as in 2031-04-09',
  'time': 'HH:MM or HH:MM:SS, as in 17:45',
  'datetime-local': 'YYYY-MM-DDTHH:MM, as in 2031-04-09T17:45',
  'month': 'YYYY-MM, as in 2031-04',
  'week': 'YYYY-Www, as in 2031-W15',
  'color': '#rrggbb, as in #ff8800',
  'range': 'a number within its min, max and step',
}));

/**
 * How text gets into an element: `text` (one line), `area` (a textarea), `rich` (contenteditable), `native` (a value that
 * is not text: date, time, colour, range); "" where it does not.
 * @param {Element} el
 * @returns {'' | 'text' | 'area' | 'rich' | 'native'}
 */
function editableKind(el) {
  const name = htmlName(el);
  if (name === 'textarea') return 'area';
  if (name === 'input') {
    const type = dom.inputType(el);
    return TEXT_TYPES.has(type) ? 'text' : type in NATIVE_FORMATS ? 'native' : '';
  }
  return name && dom.isEditable(el) ? 'rich' : '';
}

/**
 * @param {Element} el
 * @returns {boolean}
 */
function isReadonly(el) {
  const name = htmlName(el);
  if (name === 'input') return control.isInputReadonly(el);
  if (name === 'textarea') return control.isAreaReadonly(el);
  return dom.attr(el, 'aria-readonly')?.toLowerCase() === 'true';
}

/**
 * What keeps an element from being acted on, apart from its place; undefined where nothing does.
 * @param {Element} el
 * @param {{force?: boolean, hover?: boolean} & Lease} args
 * @returns {Failure | undefined}
 */
function obstacleOf(el, args) {
  const name = htmlName(el);
  const select = name === 'option' || name === 'optgroup' ? selectOf(el) : null;
  if (!isShown(el) && !shownLabel(el)) {
    if (select) {
      const owner = described(select, args);
      return failure('not_visible', `${wordsFor(described(el, args))} is in a closed drop-down`, `use select on ${owner.ref ?? 'its select'}`, { select: owner.ref });
    }
    return failure('not_visible', `${wordsFor(described(el, args))} is in the page but not shown`, 'open or scroll what holds it, then read again');
  }
  if (args.force || args.hover) return undefined;
  if (isUnusable(el)) return failure('disabled', `${wordsFor(described(el, args))} is disabled`, 'do first what enables it, or use force');
  if (isInert(el)) return failure('disabled', `${wordsFor(described(el, args))} is inert`, 'do first what makes it active again');
  return undefined;
}
