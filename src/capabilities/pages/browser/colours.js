/**
 * The colours of the map: one ramp per theme, in even steps of lightness. Larger values contrast more with the
 * background.
 */

export const BINS = 24;

/** From few objects to many. */
const RAMPS = {
  density: {
    light: ['#b5d3e8', '#8fc1dc', '#5ba7cb', '#2b7fb2', '#17588f', '#123365', '#0b1a3c'],
    dark: ['#24456f', '#1f4f80', '#1f6294', '#2c8bb0', '#58b4be', '#a5d9c4', '#f3f7d3'],
  },
  share: {
    light: ['#f0d6a8', '#edc280', '#e6a455', '#cf7a34', '#a65324', '#74341c', '#431d14'],
    dark: ['#4a322a', '#653c2b', '#86482c', '#b9662c', '#e08f3c', '#f5bf6b', '#fff0c2'],
  },
  coverage: {
    light: ['#c3dfc4', '#a3cfae', '#7cbf98', '#419f7e', '#1b7a66', '#0f554d', '#083532'],
    dark: ['#1f4a48', '#21574f', '#1f6257', '#2f8870', '#5cad8a', '#9ed2ab', '#e5f5d2'],
  },
};

/** @typedef {keyof typeof RAMPS} Ramp */

/** The colours in the present theme. @param {Ramp} ramp @returns {string[]} as many as there are bins */
export function coloursOf(ramp) {
  const stops = RAMPS[ramp][isDark() ? 'dark' : 'light'];
  return Array.from({ length: BINS }, (_, bin) => {
    const at = (bin / (BINS - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    return mixed(stops[low] ?? '', stops[low + 1] ?? '', at - low);
  });
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

/** @param {string} a @param {string} b @param {number} share of the second */
function mixed(a, b, share) {
  const channels = [1, 3, 5].map(i => {
    const [from, to] = [Number.parseInt(a.slice(i, i + 2), 16), Number.parseInt(b.slice(i, i + 2), 16)];
    return Math.round(from + (to - from) * share);
  });
  return `rgb(${channels.join(' ')})`;
}
