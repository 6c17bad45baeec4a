// @ts-check
// States that take more than an attribute to find.

/** @param {string} token @returns {boolean | 'mixed' | undefined} */
function tristate(token) {
  return token === 'true' ? true : token === 'false' ? false : token === 'mixed' ? 'mixed' : undefined;
}

/** @param {Facts} f @param {string} role @returns {boolean | 'mixed' | undefined} */
function checkedState(f, role) {
  if (f.tag === 'input') {
    // HTML-AAM: the control's own state is the truth, aria-checked is not.
    const type = dom.inputType(f.el);
    if (type === 'checkbox' && dom.indeterminate(f.el)) return 'mixed';
    if (type === 'checkbox' || type === 'radio') return dom.checked(f.el);
  }
  const aria = tristate(ariaToken(f, 'aria-checked'));
  // ARIA 1.3: required state, false where missing; option and treeitem may have none.
  if (aria === undefined) return role === 'option' || role === 'treeitem' ? undefined : false;
  return aria === 'mixed' && (role === 'radio' || role === 'menuitemradio' || role === 'switch') ? false : aria;
}

/** What a control holds, for roles with a value.
 * @param {Facts} f @param {string} role @returns {string | undefined} */
function valueOf(f, role) {
  switch (role) {
    case 'textbox': case 'searchbox': {
      const value = textValue(f);
      if (value !== null) return value;
      const text = folded(contentText(f, newWalk(f)));
      return text === '' && !isEditingHost(f) ? undefined : text;
    }
    case 'combobox':
      if (f.tag === 'select' || f.tag === 'input' || f.tag === 'textarea') return comboboxValue(f, newWalk(f));
      return folded(comboboxValue(f, newWalk(f))) || undefined;
    case 'slider': case 'spinbutton': case 'scrollbar': case 'progressbar': case 'meter':
      return rangeText(f) || (f.tag === 'input' ? '' : undefined);
    case 'separator':
      return f.hasAria && isFocusable(f) ? rangeText(f) || undefined : undefined;
    case 'button':
      if (f.tag === 'input' && dom.inputType(f.el) === 'file') return [...(dom.files(f.el) ?? [])].map((file) => file.name).join(', ') || undefined;
      return undefined;
    default:
      if (f.tag === 'input' && role !== 'checkbox' && role !== 'radio' && role !== 'switch' && role !== 'button') return textValue(f) ?? undefined;
      return undefined;
  }
}

/** The resolved address of a link, '' if it is none.
 * @param {Facts} f @returns {string} */
function linkUrl(f) {
  if (f.tag === 'a' || f.tag === 'area') return dom.hasAttr(f.el, 'href') ? String(dom.href(f.el)) : '';
  if (f.tag !== 'svg:a') return '';
  const href = dom.attr(f.el, 'href') ?? dom.attr(f.el, 'xlink:href');
  if (href === null) return '';
  try {
    return new URL(href, dom.baseUri(f.el)).href;
  } catch {
    return href;
  }
}

/** @param {Facts} f @param {string} role @returns {number} 0 for none */
function levelOf(f, role) {
  const level = f.hasAria ? parseInt(ariaToken(f, 'aria-level'), 10) : NaN;
  if (level > 0) return level;
  if (role === 'heading') return /^h[1-6]$/.test(f.tag) ? Number(f.tag[1]) : 2;
  if (role !== 'treeitem') return 0;
  // Core-AAM 1.2 5.6: a tree item's level is how many groups deep it stands.
  let depth = 1;
  let steps = 0;
  for (let at = ariaUp(f); at && steps < 256; at = ariaUp(at), steps++) {
    const up = roleOfFacts(at);
    if (up === 'tree') break;
    if (up === 'group') depth++;
  }
  return depth;
}

/** @param {Facts} f @param {string} role @param {States} s */
function rangeLimits(f, role, s) {
  if (role === 'separator' && !isFocusable(f)) return;
  const limit = (/** @type {'min' | 'max'} */ end) => {
    if (f.tag === 'input') {
      const native = parseFloat(dom.attr(f.el, end) ?? '');
      if (Number.isFinite(native)) return native;
      return dom.inputType(f.el) === 'range' ? (end === 'min' ? 0 : 100) : NaN;
    }
    if (f.tag === 'meter') return end === 'min' ? dom.min(f.el) : dom.max(f.el);
    if (f.tag === 'progress') return end === 'min' ? 0 : dom.max(f.el);
    const aria = parseFloat(ariaToken(f, `aria-value${end}`));
    if (Number.isFinite(aria)) return aria;
    // ARIA 1.3: 0 and 100 where missing, but a spinbutton has no bounds.
    return role === 'spinbutton' ? NaN : end === 'min' ? 0 : 100;
  };
  const min = limit('min');
  const max = limit('max');
  if (Number.isFinite(min)) s.valuemin = min;
  if (Number.isFinite(max)) s.valuemax = max;
}

/** @param {Facts} f @param {string} role @returns {boolean | undefined} */
function expandedState(f, role) {
  if (f.tag === 'summary' && isSummary(f, upOf(f))) return dom.detailsOpen(/** @type {Facts} */ (upOf(f)).el);
  if (f.hasAria) {
    const token = ariaToken(f, 'aria-expanded');
    if (token === 'true') return true;
    if (token === 'false') return false;
  }
  if (f.tag === 'select' && role === 'combobox') return dom.matches(f.el, ':open');
  if (f.bare || (f.tag !== 'button' && f.tag !== 'input')) return undefined;
  // HTML 6.12: a popover's invoker is expanded while it is shown.
  if (dom.hasAttr(f.el, 'popovertarget')) {
    const target = dom.popoverTarget(f.el);
    if (target) return dom.matches(target, ':popover-open');
  }
  if (f.tag === 'button' && /-popover$/i.test(dom.attr(f.el, 'command') ?? '')) {
    const target = dom.commandFor(f.el);
    if (target) return dom.matches(target, ':popover-open');
  }
  return undefined;
}

/** @param {Facts} f @param {string} role @returns {boolean | undefined} */
function selectedState(f, role) {
  if (f.tag === 'option') return dom.optionSelected(f.el);
  const token = ariaToken(f, 'aria-selected');
  if (token === 'true') return true;
  if (token === 'false') return false;
  // As Chromium: where one is chosen of several, not being it is a state.
  return role === 'option' || role === 'tab' ? false : undefined;
}
