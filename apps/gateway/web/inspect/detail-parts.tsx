// What the things that can be opened are shown with.
import type { ComponentChildren } from "preact";
import { CopyButton } from "../copy-button.tsx";
import { Preformatted } from "../preformatted.tsx";

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="detail-facts">{children}</dl>;
}

export function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Text({ text, label }: { text: string; label: string }) {
  return (
    <div class="detail-text">
      <CopyButton text={text} />
      <Preformatted label={label}>{text === "" ? "(no text)" : text}</Preformatted>
    </div>
  );
}

export function Pending({ problem }: { problem: string | null }) {
  return problem === null ? (
    <p class="soft">Reading…</p>
  ) : (
    <p class="problem" role="alert">
      {problem}
    </p>
  );
}
