// Text as it is, in a box that a keyboard can scroll.
import type { ComponentChildren } from "preact";

export function Preformatted({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    // biome-ignore lint/a11y/useSemanticElements: it is preformatted text first.
    <pre dir="auto" tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}
