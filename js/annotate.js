// @ts-check
// Boxes with refs on a picture. It is drawn on a canvas that is no part of any document: the page is not touched.

/** Told apart beside each other, and on any ground. */
const INKS = Object.freeze(['#d6006c', '#0063d1', '#0a7d28', '#a94400', '#6a2bd9', '#00737d']);

/**
 * `tabd.annotate({image, type, quality?, left, top, width?, marks: [[label, left, top, right, bottom], ...], prefix,next,end})`
 * -> `{image, next}`: `image` is the picture, base64 both ways; `type` the media type of the new one, `quality` from 0 to 1. The picture's upper
 * left corner is at `left`,`top` of the viewport; it is `width` CSS pixels wide, as the viewport where that is left out.
 * @param {Lease & {image: string, type: string, quality?: number, left: number, top: number, width?: number,
 *   marks: [string, number, number, number, number][]}} args
 * @returns {Promise<object>}
 */
async function annotate(args) {
  const bytes = Uint8Array.from(atob(args.image), (c) => c.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes]));
  const scale = picture.width / (args.width ?? innerWidth);
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const g = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
  g.drawImage(picture, 0, 0);
  picture.close();
  const high = Math.round(13 * scale);
  g.font = `bold ${Math.round(11 * scale)}px monospace`;
  g.textBaseline = 'middle';
  g.lineWidth = Math.max(1, Math.round(scale));
  const at = args.marks.map(([label, left, top, right, bottom]) => ({
    label, x: (left - args.left) * scale, y: (top - args.top) * scale, w: (right - left) * scale, h: (bottom - top) * scale,
  }));
  at.forEach(({ x, y, w, h }, i) => {
    g.strokeStyle = INKS[i % INKS.length];
    g.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.max(1, Math.round(w) - 1), Math.max(1, Math.round(h) - 1));
  });
  // Labels over all boxes: above the box where there is room, else in its corner.
  at.forEach(({ label, x, y }, i) => {
    const wide = Math.ceil(g.measureText(label).width) + 4;
    const left = Math.max(0, Math.min(Math.round(x), canvas.width - wide)), top = Math.max(0, y >= high ? Math.round(y) - high : Math.round(y));
    g.fillStyle = INKS[i % INKS.length];
    g.fillRect(left, top, wide, high);
    g.fillStyle = '#fff';
    g.fillText(label, left + 2, top + high / 2 + 0.5);
  });
  const blob = await canvas.convertToBlob({ type: args.type, quality: args.quality });
  return { image: await base64Of(blob) };
}

/** @param {Blob} blob @returns {Promise<string>} */
function base64Of(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
