// Whether what stands below the columns is unfolded, which the browser remembers.
import { useState } from "preact/hooks";

const NAME = "clew.below";
/** Pixels of a window that has room for it as well. */
const ROOMY = 780;

/** `[isUnfolded, setUnfolded]` */
export function useFold(): [boolean, (isUnfolded: boolean) => void] {
  const [isUnfolded, set] = useState(() => {
    const chosen = remembered();
    return chosen === null ? innerHeight >= ROOMY : chosen === "unfolded";
  });
  return [
    isUnfolded,
    (next) => {
      set(next);
      remember(next ? "unfolded" : "folded");
    },
  ];
}

// A browser may be told to keep nothing.
function remembered(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}

function remember(value: string): void {
  try {
    localStorage.setItem(NAME, value);
  } catch {}
}
