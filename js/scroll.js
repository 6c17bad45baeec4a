// @ts-check
// Scrolling by and to, in the page or within a scroller.

/**
 * `tabd.scroll({prefix,next,end, ref|selector,nth (into view) | dx,dy | to:"top"|"bottom", within?:{ref|selector,nth}})`: at
 * once, whatever the page's `scroll-behavior` says, and watches for effects. `within`: what scrolls is the element or the
 * nearest scroller around it, else the page; with a target, the nearest scroller around the target is told of.
 *
 * -> `{x, y, max_x, max_y, at_end, target?, next}`: where the scroller is now; `at_end`: nothing left below.
 * Errors: `stale_ref not_found ambiguous bad_request not_visible`.
 * @param {Locator & {dx?: number, dy?: number, to?: string, within?: Omit<Locator, keyof Lease>}} args
 * @returns {object}
 */
function scroll(args) {
  const within = args.within ? elementFor(Object.assign(Object.create(args), { ref: undefined, selector: undefined, nth: undefined }, args.within)) : null;
  if (within && isFailure(within)) return within;
  const named = (args.ref !== undefined && args.ref !== null) || typeof args.selector === 'string';
  const el = named ? elementFor(args) : null;
  if (el && isFailure(el)) return el;
  if (el && !isShown(el)) return /** @type {object} */ (obstacleOf(el, { ...args, force: true }));
  startAct(el, null, false);
  if (el && !isInView(el)) reveal(el, 0);
  const scroller = scrollerOf(el ?? within);
  if (!el && args.to) control.scrollTo(scroller, { behavior: 'instant', top: args.to === 'bottom' ? control.scrollHeight(scroller) : 0 });
  else if (!el) control.scrollTo(scroller, { behavior: 'instant', left: control.scrollLeft(scroller) + (args.dx ?? 0), top: control.scrollTop(scroller) + (args.dy ?? 0) });
  const x = control.scrollLeft(scroller), y = control.scrollTop(scroller);
  const max_x = control.scrollWidth(scroller) - control.clientWidth(scroller), max_y = control.scrollHeight(scroller) - control.clientHeight(scroller);
  return { x: Math.round(x), y: Math.round(y), max_x: Math.max(0, max_x), max_y: Math.max(0, max_y), at_end: y >= max_y - 1, target: el ? described(el, args) : undefined };
}

/**
 * @param {Element | null} el
 * @returns {Element} the nearest scroller around it, itself too; the page's where there is none
 */
function scrollerOf(el) {
  for (let at = el; at; at = flatParent(at)) {
    if (htmlName(at) === 'body' || htmlName(at) === 'html') break;
    const style = dom.styleOf(at);
    const scrolls = (/** @type {string} */ overflow) => overflow === 'auto' || overflow === 'scroll' || overflow === 'hidden';
    if (scrolls(style.overflowY) && control.scrollHeight(at) > control.clientHeight(at)) return at;
    if (scrolls(style.overflowX) && control.scrollWidth(at) > control.clientWidth(at)) return at;
  }
  return /** @type {Element} */ (pageScroller(document) ?? rootElement(document));
}
const pageScroller = /** @type {(doc: Document) => Element | null} */ (getter(Document.prototype, 'scrollingElement'));
