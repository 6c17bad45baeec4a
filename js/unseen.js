// @ts-check
// Whether a person can see a text that the tree holds: its colour is its background's, it is transparent, tiny, clipped
// away, or stands where no scrolling leads. Reads layout and computed style only; asked for elements with text, then for
// their ancestors once each.

/**
 * What an element passes on to what is in it.
 * @typedef {object} Visual
 * @property {boolean} clear it or an ancestor has opacity 0
 * @property {boolean} gone clipped to nothing
 * @property {Box | null} clip what of the viewport its content may paint on, null for all of it
 * @property {Box | null} outer the same for absolutely positioned content
 * @property {number[]} back colour behind its text (r, g, b), pictures and gradients apart
 * @property {Level | null} backFrom
 * @property {boolean | undefined} blends whether its text has the colour of what is behind it
 * @property {boolean} fixed
 * @property {boolean} placed positioned itself
 * @property {boolean | undefined} away whether its own box is out of reach
 */
/** @typedef {{l: number, t: number, r: number, b: number}} Box */

const WHITE = [255, 255, 255];
/** Colours nearer than this, summed over the channels, cannot be told apart in text. */
const SAME_COLOUR = 24;

/** @param {Level} level @returns {boolean} */
function isTextUnseen(level) {
  const { f } = level;
  // An option of a closed select has no box; its select has.
  if (f.tag === 'option' || f.tag === 'optgroup' || f.tag.startsWith('svg:')) return false;
  const visual = visualOf(level);
  if (visual.clear || visual.gone) return true;
  const style = /** @type {CSSStyleDeclaration} */ (f.style);
  const size = style.fontSize;
  if (size.length < 6 && parseFloat(size) <= 1) return true;
  visual.blends ??= blends(level, visual, style);
  return visual.blends || isAway(level, visual);
}

/** @param {Level} level @returns {Visual} */
function visualOf(level) {
  if (level.visual) return level.visual;
  /** @type {Level[]} */
  const chain = [];
  /** @type {Level | null} */
  let at = level;
  while (at && !at.visual) {
    chain.push(at);
    at = at.up;
  }
  let visual = at ? at.visual : null;
  for (let i = chain.length - 1; i >= 0; i--) visual = chain[i].visual = visualWithin(chain[i], visual);
  return /** @type {Visual} */ (visual);
}

/** @param {Level} level @param {Visual | null} up of the level above @returns {Visual} */
function visualWithin(level, up) {
  const { f } = level;
  const style = /** @type {CSSStyleDeclaration} */ (styled(f).style);
  /** @type {Visual} */
  const v = {
    clear: up ? up.clear : false, gone: up ? up.gone : false, clip: up ? up.clip : null, outer: up ? up.outer : null, back: up ? up.back : WHITE, backFrom: up ? up.backFrom : null,
    blends: undefined, fixed: up ? up.fixed : false, placed: false, away: undefined,
  };
  if (!v.clear && style.opacity === '0') v.clear = true;
  // What is positioned is never inline but relatively so.
  const inline = f.display === 'inline';
  const position = inline ? 'static' : style.position;
  if (position !== 'static') {
    v.placed = true;
    if (position === 'absolute') v.clip = v.outer;
    else if (position === 'fixed') {
      v.clip = v.outer = null;
      v.fixed = true;
      v.gone = false;
    }
  }
  const background = style.backgroundColor;
  if (background !== 'rgba(0, 0, 0, 0)') {
    const [r, g, b, a] = colourOf(background);
    const { back } = v;
    v.back = a >= 1 ? [r, g, b] : [r * a + back[0] * (1 - a), g * a + back[1] * (1 - a), b * a + back[2] * (1 - a)];
    if (a > 0) v.backFrom = level;
  }
  if (inline) return v;
  const overflow = (level.overflow ??= style.overflow);
  if (overflow !== 'visible' && f.tag !== 'body' && f.tag !== 'html') {
    const { left, top, right, bottom } = dom.rectOf(f.el);
    const box = { l: left, t: top, r: right, b: bottom };
    const scrolls = overflow.includes('auto') || overflow.includes('scroll');
    if (right - left <= 1 || bottom - top <= 1) v.gone = true;
    else if (scrolls) {
      if (v.clip && !overlaps(v.clip, box)) v.gone = true;
      v.clip = null;
    } else v.clip = v.clip ? meet(v.clip, box) : box;
  }
  if (position !== 'static') {
    v.outer = v.clip;
    if (position === 'absolute' || position === 'fixed') {
      const clip = style.clip;
      if (clip !== 'auto' && isEmptyClip(clip)) v.gone = true;
    }
  }
  const path = style.clipPath;
  if (path !== 'none' && isEmptyPath(path)) v.gone = true;
  return v;
}

/** `rect(0px, 0px, 0px, 0px)` and the like. @param {string} clip */
function isEmptyClip(clip) {
  const n = clip.match(/-?[\d.]+(?=px)/g)?.map(Number);
  return !!n && n.length === 4 && (n[2] - n[0] <= 1 || n[1] - n[3] <= 1);
}

/** `inset(50%)`, `circle(0px)`. @param {string} path */
function isEmptyPath(path) {
  if (/^(circle|ellipse)\(0(px|%)?[ )]/.test(path)) return true;
  const inset = /^inset\(([^)]*)\)/.exec(path);
  if (!inset) return false;
  const n = (inset[1].split('round')[0].match(/-?[\d.]+%/g) ?? []).map(parseFloat);
  if (n.length === 0) return false;
  const top = n[0], right = n[1] ?? top, bottom = n[2] ?? top, left = n[3] ?? right;
  return top + bottom >= 100 || left + right >= 100;
}

/** @param {Box} a @param {Box} b @returns {Box} */
function meet(a, b) {
  return { l: Math.max(a.l, b.l), t: Math.max(a.t, b.t), r: Math.min(a.r, b.r), b: Math.min(a.b, b.b) };
}

/** @param {Box} a @param {Box} b */
function overlaps(a, b) {
  return Math.min(a.r, b.r) - Math.max(a.l, b.l) > 1 && Math.min(a.b, b.b) - Math.max(a.t, b.t) > 1;
}

/**
 * Whether an element's box lies outside of what clips it, or where no scrolling leads. A box within a line is where its
 * line is: its block is asked.
 * @param {Level} level @param {Visual} visual
 * @returns {boolean}
 */
function isAway(level, visual) {
  if (visual.away !== undefined) return visual.away;
  const { f, up } = level;
  if (up && (f.display === 'contents' || (f.display === 'inline' && !visual.placed))) {
    const above = visualOf(up);
    if (above.away === undefined && (up.f.display === 'inline' || up.f.display === 'contents')) {
      // Deep in lines: measure here rather than climb.
      return (visual.away = isOutOfReach(level, visual));
    }
    return (visual.away = isAway(up, above));
  }
  return (visual.away = isOutOfReach(level, visual));
}

/** @param {Level} level @param {Visual} visual */
function isOutOfReach(level, visual) {
  const rect = dom.rectOf(level.f.el);
  const bottom = rect.bottom, right = rect.right;
  if (visual.clip) {
    const left = rect.left, top = rect.top;
    if (!overlaps(visual.clip, { l: left, t: top, r: right, b: bottom })) return right - left > 0 || bottom - top > 0 || visual.clip.r - visual.clip.l <= 1;
  }
  // Text pushed out of its own box: image replacement by a far indent.
  const indent = /** @type {CSSStyleDeclaration} */ (level.f.style).textIndent;
  if (indent[0] === '-' && parseFloat(indent) < -500) return true;
  if (bottom > 0 && right > 0) return visual.fixed && (rect.left >= innerWidth || rect.top >= innerHeight);
  if (rect.width === 0 && rect.height === 0) return false;
  if (visual.fixed) return true;
  if (bottom + scrollY <= 0) return true;
  return right + scrollX <= 0 && !isScrolledInside(level);
}

/** What a scroll container has scrolled away can be scrolled back; and a page written right to left goes on to the left. @param {Level} level */
function isScrolledInside(level) {
  for (let at = level.up; at; at = at.up) if (at.f.tag !== 'body' && at.f.tag !== 'html' && /auto|scroll/.test(at.f.style?.overflow ?? '')) return true;
  const root = dom.rootElement(document);
  return root !== null && dom.styleOf(root).direction === 'rtl';
}

/** @type {Map<string, number[]>} */
const colours = new Map();

/** Red, green, blue 0..255 and alpha 0..1 of a computed colour. @param {string} css @returns {number[]} */
function colourOf(css) {
  let c = colours.get(css);
  if (c) return c;
  const n = (css.match(/-?[\d.]+(e-?\d+)?%?/g) ?? []).map(parseFloat);
  if (css.startsWith('rgb')) c = [n[0], n[1], n[2], n[3] ?? 1];
  // Other colour spaces are not compared: half transparent grey, like nothing.
  else c = css.startsWith('color(srgb ') ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [NaN, NaN, NaN, 1];
  if (colours.size > 5000) colours.clear();
  colours.set(css, c);
  return c;
}

/**
 * Whether text has the colour of what is behind it.
 * @param {Level} level @param {Visual} visual @param {CSSStyleDeclaration} style
 */
function blends(level, visual, style) {
  const color = style.color;
  const [r, g, b, a] = colourOf(color);
  const { back } = visual;
  const far = (Math.abs(r - back[0]) + Math.abs(g - back[1]) + Math.abs(b - back[2])) * a;
  if (!(far < SAME_COLOUR)) return false;
  if (style.textShadow !== 'none' || style.getPropertyValue('-webkit-text-fill-color') !== color) return false;
  // Transparent letters may show a background cut to their shape.
  return a === 0 ? !isTextMask(level) : !hasPictureBehind(level, visual);
}

/** @param {Level} level */
function isTextMask(level) {
  for (let at = /** @type {Level | null} */ (level), steps = 0; at && steps < 8; at = at.up, steps++) {
    if ((at.f.style?.backgroundClip ?? '').includes('text')) return true;
  }
  return false;
}

/**
 * Whether something other than the ancestors' backgrounds may lie behind a text: a picture, a coloured box, generated content.
 * @param {Level} level @param {Visual} visual
 */
function hasPictureBehind(level, visual) {
  const rect = dom.rectOf(level.f.el);
  const x = (rect.left + rect.right) / 2, y = (rect.top + rect.bottom) / 2;
  for (let at = /** @type {Level | null} */ (level), steps = 0; at && steps < 12; at = at.up, steps++) {
    if (at.f.style?.backgroundImage !== 'none' || paintsGenerated(at.f.el)) return true;
    if (at === visual.backFrom) return false;
    let seen = 0;
    for (let el = dom.previousElement(at.f.el); el && seen < 20; el = dom.previousElement(el), seen++) if (paintsAt(el, x, y)) return true;
    seen = 0;
    for (let el = dom.nextElement(at.f.el); el && seen < 20; el = dom.nextElement(el), seen++) if (paintsAt(el, x, y)) return true;
  }
  return false;
}

/** @param {Element} el */
function paintsGenerated(el) {
  for (const pseudo of ['::before', '::after']) {
    const style = dom.styleOf(el, pseudo);
    if (style.content !== 'none' && style.content !== 'normal' && (style.backgroundImage !== 'none' || style.backgroundColor !== 'rgba(0, 0, 0, 0)')) return true;
  }
  return false;
}

/** @param {Element} el @param {number} x @param {number} y */
function paintsAt(el, x, y) {
  const r = dom.rectOf(el);
  if (x < r.left || x > r.right || y < r.top || y > r.bottom) return false;
  if (/^(img|video|canvas|svg|picture|iframe|object|embed)$/.test(dom.localName(el))) return true;
  const style = dom.styleOf(el);
  if (style.backgroundImage !== 'none' || style.backgroundColor !== 'rgba(0, 0, 0, 0)') return true;
  for (const inner of dom.queryAll(el, 'img,video,canvas,svg,picture')) {
    const i = dom.rectOf(inner);
    if (x >= i.left && x <= i.right && y >= i.top && y <= i.bottom) return true;
  }
  return false;
}

/** @param {Element} el */
function isInViewport(el) {
  const r = dom.rectOf(el);
  return r.right > 0 && r.bottom > 0 && r.left < innerWidth && r.top < innerHeight;
}
