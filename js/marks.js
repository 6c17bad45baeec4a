// @ts-check
// What can be acted on and where it is drawn, for a picture with boxes.

/**
 * `tabd.marks({viewport_only, max, budget_ms, prefix,next,end})` -> `{marks: [[ref, left, top, right, bottom], ...], next}`:
 * the elements that one can act on, as `read` has them, and the part of each that shows, in this frame's viewport; without
 * `viewport_only` also of those that the document would have to be scrolled to.
 * @param {Lease & {viewport_only: boolean, max: number, budget_ms: number}} args
 * @returns {object}
 */
function marks(args) {
  const root = rootElement(document);
  if (!root) return { marks: [] };
  const view = walk(root, { viewportOnly: args.viewport_only, capRefs: Infinity, capChars: Infinity, deadline: performance.now() + args.budget_ms });
  const found = [];
  for (const entry of view.entries) {
    if (entry.dead || entry.text !== null || !entry.acting || found.length >= args.max) continue;
    const { el } = entry.f;
    const all = isShown(el) ? unionOf(boxesOf(el)) : undefined;
    const shown = all && (args.viewport_only ? seenPart(all, el) : all);
    if (!shown) continue;
    const record = refRecord(el, args);
    if (!record) break;
    record.role = entry.role;
    record.name = safeName(nameOfFacts(entry.f));
    found.push([record.n, ...[shown.left, shown.top, shown.right, shown.bottom].map((px) => Math.round(px * 10) / 10)]);
  }
  return { marks: found };
}

/** @param {Bounds} all @param {Element} el */
function seenPart(all, el) {
  const clip = clipOf(el);
  return clip && intersect(all, clip);
}
