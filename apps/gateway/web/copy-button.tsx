// A button that copies a text and says that it did.
import { useState } from "preact/hooks";

const SAID_MS = 2000;

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async () => {
    // Without a secure address there is no clipboard.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(done === true ? "Copied" : "Not allowed");
    setTimeout(() => setSaid(null), SAID_MS);
  };
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {said ?? label}
    </button>
  );
}
