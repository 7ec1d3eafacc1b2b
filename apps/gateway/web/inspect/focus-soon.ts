// Moves the focus to what is about to be shown.

/** On a busy machine it may take long; whoever goes elsewhere meanwhile is left alone. */
const SOON_MS = 30_000;

/** To the element with this id once it is there, unless the focus went elsewhere meanwhile. */
export function focusSoon(id: string): void {
  const [begun, from] = [performance.now(), document.activeElement];
  const look = () => {
    const now = document.activeElement;
    if (now !== from && now !== document.body) return;
    const element = document.getElementById(id);
    element?.focus();
    if (document.activeElement === element && element !== null) return;
    if (performance.now() - begun < SOON_MS) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** The same at once where it is there and stays, so that what is typed next goes into it. */
export function focusNow(id: string): void {
  const element = document.getElementById(id);
  element?.focus();
  if (element === null || document.activeElement !== element) focusSoon(id);
}
