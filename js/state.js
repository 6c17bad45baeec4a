// @ts-check
// States and properties, native and ARIA, where the role has them (ARIA 1.3 6.7,
// HTML-AAM 3.6).

/** A node's fields between `depth` and `clickable`, in their order.
 * @typedef {{checked?: boolean | 'mixed', pressed?: boolean | 'mixed', value?: string, haspopup?: string, current?: string,
 *   orientation?: string, description?: string, placeholder?: string, url?: string, level?: number, valuemin?: number,
 *   valuemax?: number, disabled?: true, expanded?: boolean, selected?: boolean, required?: true, readonly?: true,
 *   invalid?: true, focused?: true, multiline?: true}} States */

/** @param {string} words @returns {Set<string>} */
function roleSet(words) {
  return new Set(words.split(' '));
}

const CHECKABLE = roleSet('checkbox menuitemcheckbox menuitemradio option radio switch treeitem');
const EXPANDABLE = roleSet('application button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio row rowheader '
  + 'columnheader switch tab treeitem radio group');
const SELECTABLE = roleSet('option tab treeitem gridcell row rowheader columnheader');
const REQUIRABLE = roleSet('checkbox combobox gridcell listbox radiogroup spinbutton textbox searchbox tree switch columnheader rowheader');
const READONLY_ABLE = roleSet('checkbox combobox grid gridcell listbox radiogroup slider spinbutton textbox searchbox switch columnheader '
  + 'rowheader treegrid menuitemcheckbox menuitemradio');
const RANGES = roleSet('slider spinbutton scrollbar progressbar meter separator');
const LEVELLED = roleSet('heading listitem treeitem row comment');
const ORIENTABLE = roleSet('listbox combobox menu menubar radiogroup scrollbar separator slider tablist toolbar tree treegrid');
const HASPOPUP = roleSet('menu listbox tree grid dialog');

/** What applies to an element, in the order a node has it.
 * @param {Element} el @returns {States} */
function statesOf(el) {
  return inReading(() => statesOfFacts(factsOf(el)));
}

/** Elements that never have a state without an attribute. @type {Set<string>} */
const STATELESS = new Set(['div', 'span', 'p', 'td', 'th', 'tr', 'tbody', 'b', 'i', 'em', 'strong', 'section', 'article', 'nav', 'main', 'br',
  'img', 'small', 'code', 'label', 'ul', 'ol', 'li', 'header', 'footer']);

/** @param {Facts} f @returns {States} */
function statesOfFacts(f) {
  /** @type {States} */
  const s = {};
  if (f.bare && STATELESS.has(f.tag)) {
    if (f.hasTab && focusedNow() === f.el) s.focused = true;
    return s;
  }
  const role = roleOfFacts(f);
  if (CHECKABLE.has(role)) {
    const checked = checkedState(f, role);
    if (checked !== undefined) s.checked = checked;
  }
  if (role === 'button' && f.hasAria) {
    const token = tristate(ariaToken(f, 'aria-pressed'));
    const pressed = token !== undefined && f.tag === 'input' && dom.inputType(f.el) === 'checkbox' ? dom.checked(f.el) : token;
    if (pressed !== undefined) s.pressed = pressed;
  }
  const value = valueOf(f, role);
  if (value !== undefined) s.value = value;
  if (f.hasAria) ariaStrings(f, role, s);
  const description = descriptionOfFacts(f);
  if (description !== '') s.description = description;
  if (!f.bare) {
    const placeholder = placeholderOf(f, role);
    if (placeholder !== '') s.placeholder = placeholder;
    const url = linkUrl(f);
    if (url !== '') s.url = url;
  }
  if (LEVELLED.has(role)) {
    const level = levelOf(f, role);
    if (level > 0) s.level = level;
  }
  if (RANGES.has(role)) rangeLimits(f, role, s);
  if (isDisabledFacts(f)) s.disabled = true;
  if (EXPANDABLE.has(role)) {
    const expanded = expandedState(f, role);
    if (expanded !== undefined) s.expanded = expanded;
  }
  if (SELECTABLE.has(role)) {
    const selected = selectedState(f, role);
    if (selected !== undefined) s.selected = selected;
  }
  fieldFlags(f, role, s);
  if (focusedNow() === f.el) s.focused = true;
  if (f.tag === 'textarea' || (role === 'textbox' && f.tag !== 'input' && (ariaToken(f, 'aria-multiline') === 'true' || isEditingHost(f)))) s.multiline = true;
  return s;
}

/** @param {Facts} f @param {string} role @param {States} s */
function ariaStrings(f, role, s) {
  const popup = ariaToken(f, 'aria-haspopup');
  if (popup === 'true') s.haspopup = 'menu';
  else if (HASPOPUP.has(popup)) s.haspopup = popup;
  const current = ariaToken(f, 'aria-current');
  if (current !== '' && current !== 'false') s.current = /^(page|step|location|date|time)$/.test(current) ? current : 'true';
  const orientation = ariaToken(f, 'aria-orientation');
  if (ORIENTABLE.has(role) && (orientation === 'horizontal' || orientation === 'vertical')) s.orientation = orientation;
}

/** required, readonly and invalid.
 * @param {Facts} f @param {string} role @param {States} s */
function fieldFlags(f, role, s) {
  const native = f.tag === 'input' || f.tag === 'select' || f.tag === 'textarea';
  if (!native && !f.hasAria) return;
  if (REQUIRABLE.has(role) || f.tag === 'input') {
    if (native ? dom.matches(f.el, ':required') || ariaToken(f, 'aria-required') === 'true' : ariaToken(f, 'aria-required') === 'true') s.required = true;
  }
  if (READONLY_ABLE.has(role)) {
    if ((native && f.tag !== 'select' && !f.bare && dom.hasAttr(f.el, 'readonly')) || ariaToken(f, 'aria-readonly') === 'true') s.readonly = true;
  }
  const invalid = ariaToken(f, 'aria-invalid');
  if (invalid !== '' ? invalid !== 'false' : native && isInvalid(f)) s.invalid = true;
}

/** HTML 4.10.18.3, but that a field nobody has touched is not yet wrong for being empty.
 * @param {Facts} f @returns {boolean} */
function isInvalid(f) {
  if (!dom.matches(f.el, ':invalid')) return false;
  return f.tag === 'select' || dom.value(f.el) !== '' || dom.matches(f.el, ':user-invalid');
}

/** Whether an element is disabled: by HTML, or by aria-disabled on it or, for
 * what takes focus, on an ancestor (ARIA 1.3 6.6 aria-disabled).
 * @param {Element} el @returns {boolean} */
function isDisabled(el) {
  return inReading(() => isDisabledFacts(factsOf(el)));
}

/** @param {Facts} f @returns {boolean} */
function isDisabledFacts(f) {
  if (isNativeDisabled(f)) return true;
  if (f.hasAria && ariaToken(f, 'aria-disabled') === 'true') return true;
  return (ariaInherited(f) & ARIA_DISABLED) !== 0 && isFocusable(f);
}
