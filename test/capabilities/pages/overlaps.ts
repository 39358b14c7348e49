/**
 * A script that finds texts drawn over each other: evaluated in a page, it gives a description of each such pair. It
 * compares the boxes of the lines of every text node, cut where a scrolling or clipping ancestor cuts them. Lines that
 * merely touch, as the lines of a heading do, are no fault: the overlap must be a third of the lower box and 3 pixels wide.
 */
export const OVERLAPPING_TEXTS = `(() => {
  const cut = (a, b) => ({
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  });
  const isThere = ({ left, top, right, bottom }) => right - left > 1 && bottom - top > 1;
  const seen = (box, element) => {
    for (let each = element; each && isThere(box); each = each.parentElement) {
      const style = getComputedStyle(each);
      if (style.clipPath !== 'none') return { left: 0, top: 0, right: 0, bottom: 0 };
      if (style.overflowX !== 'visible' || style.overflowY !== 'visible') box = cut(box, each.getBoundingClientRect());
    }
    return box;
  };
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (node.data.trim() === '' || !parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (['SCRIPT', 'NOSCRIPT', 'TEXTAREA', 'OPTION', 'TITLE'].includes(parent.tagName)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      const box = seen(cut(rect, rect), parent);
      if (isThere(box)) boxes.push({ ...box, node });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  const faults = [];
  for (const [i, a] of boxes.entries())
    for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom; j++) {
      const b = boxes[j];
      if (a.node === b.node) continue;
      const { left, top, right, bottom } = cut(a, b);
      const lower = Math.min(a.bottom - a.top, b.bottom - b.top);
      if (right - left < 3 || bottom - top < lower / 3) continue;
      const text = ({ node }) => node.data.trim().slice(0, 60);
      faults.push(text(a) + ' over ' + text(b));
    }
  return faults;
})()`;
