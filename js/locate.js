// @ts-check
// Which element a call means: by ref, or by CSS selector through shadow roots.

/**
 * @typedef {{ref?: number, selector?: string, nth?: number} & Lease} Locator
 *   `ref`: the number without its prefix. `selector`: CSS, see select-all.js. `nth`: which match, from 0; negative from
 *   the end. Neither: the element that has the focus.
 */

/**
 * `tabd.locate(Locator)`: what the target is, without touching it or waiting for it.
 *
 * -> `{ref, role, name, tag, type?, kind, multiple?, option_of?, hidden, disabled, checked?, value?, next}`:
 * `tag` the local name; `type` of an input; `kind` how `type` would write into it, "" where it cannot (see `editableKind`);
 * `checked` of a checkbox, radio button or switch, native or not, or of its label: true, false or "mixed";
 * `frame` the number of the frame it holds;
 * `option_of` the select an option belongs to (described); `hidden`, `disabled` as they are now.
 * Errors: `stale_ref(data.why:removed|navigated, role, name, candidate) ambiguous(data.count, refs, matches) bad_request`, and
 * `not_found` (also where no element has the focus). `why:"navigated"` means: no ref of this document, as far as it knows.
 *
 * @param {Locator} args
 * @returns {object}
 */
function locate(args) {
  const el = elementFor(args);
  if (isFailure(el)) return el;
  const type = htmlName(el) === 'input' ? dom.inputType(el) : undefined;
  const { target, ...kind } = targetOf(el, args);
  return {
    ...target,
    ...kind,
    hidden: !isShown(el),
    disabled: isUnusable(el),
    checked: checkedOf(el),
    value: editableKind(el) ? contentOf(el) : undefined,
  };
}

/**
 * What replies tell of a target, beside where it is.
 * @param {Element} el
 * @param {Lease} lease
 * @returns {{target: object, tag: string, type?: string, kind: string, multiple?: boolean, frame?: number, option_of?: object}}
 */
function targetOf(el, lease) {
  const tag = htmlName(el) || dom.localName(el);
  const select = tag === 'option' ? selectOf(el) : null;
  return {
    target: described(el, lease),
    tag,
    type: tag === 'input' ? dom.inputType(el) : undefined,
    kind: editableKind(el),
    multiple: tag === 'select' ? control.isMultiple(el) : undefined,
    frame: frameNumbers.get(el),
    option_of: select ? described(select, lease) : undefined,
  };
}

/**
 * The one element a locator means.
 * @param {Locator} args
 * @returns {Element | Failure}
 */
function elementFor(args) {
  if (args.ref !== undefined && args.ref !== null) return elementOf(args.ref) ?? staleRef(args.ref, args);
  if (typeof args.selector === 'string') return selected(args.selector, args.nth ?? undefined, args);
  return focusedElement() ?? failure('not_found', 'no element has the focus', 'name a target by ref or selector');
}

/**
 * @param {string} selector
 * @param {number | undefined} nth
 * @param {Lease} lease
 * @returns {Element | Failure}
 */
function selected(selector, nth, lease) {
  const found = selectAll(selector);
  if (!found) return failure('bad_request', `selector ${inQuotes(selector)} is not valid CSS`, 'check its brackets and quotes');
  if (!found.length) return failure('not_found', `nothing matches ${inQuotes(selector)}`, 'read the page for what is there', { count: 0 });
  if (nth !== undefined) {
    const el = found.at(nth);
    return el ?? failure('not_found', `${inQuotes(selector)} has ${found.length} matches, none at nth ${nth}`, 'nth counts from 0', { count: found.length });
  }
  if (found.length === 1) return found[0];
  beginReading();
  try {
    const first = found.slice(0, 5).map((el) => describe(el, lease));
    return failure('ambiguous', `${found.length} elements match ${inQuotes(selector)}`, 'use one of the refs, or nth',
      { count: found.length, refs: first.map((d) => d.ref), matches: first });
  } finally {
    endReading();
  }
}

/**
 * What to say of a ref whose element is not in the page, and which one element could be meant now.
 * @param {number} n
 * @param {Lease} lease
 * @returns {Failure}
 */
function staleRef(n, lease) {
  const was = rememberedOf(n);
  const ref = lease.prefix + n;
  if (!was) return failure('stale_ref', `${ref} is not in this document`, 'read again', { why: 'navigated' });
  const twin = was.role && onlyTwin(was.role, was.name);
  const candidate = twin ? described(twin, lease) : undefined;
  const words = wordsFor({ ref, role: was.role || 'element', name: was.name });
  return failure('stale_ref', `${words} is no longer in the page`,
    candidate?.ref ? `read again, or use ${candidate.ref}, which has the same role and name` : 'read again',
    { why: 'removed', role: was.role, name: was.name, candidate: candidate?.ref });
}

/**
 * The element of this role and name, where exactly one stands and can be seen. Looking ends after 200 ms, without one.
 * @param {string} role
 * @param {string} name
 * @returns {Element | undefined}
 */
function onlyTwin(role, name) {
  const end = performance.now() + 200;
  let twin;
  beginReading();
  try {
    for (const root of allRoots()) {
      for (const el of dom.queryAll(root, '*')) {
        if (performance.now() > end) return undefined;
        if ((roleOf(el) || 'generic') !== role || safeName(nameOf(el)) !== name || isHidden(el)) continue;
        if (twin) return undefined;
        twin = el;
      }
    }
  } finally {
    endReading();
  }
  return twin;
}

/**
 * @param {Element} option
 * @returns {Element | null}
 */
function selectOf(option) {
  for (let at = elementAbove(option); at; at = elementAbove(at)) if (htmlName(at) === 'select') return at;
  return null;
}
