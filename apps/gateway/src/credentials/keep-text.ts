// Replaces a small file of credentials, whole or not at all.
import writeFileAtomic from "write-file-atomic";

/** A file that cannot be written stays as it is: what it would hold is asked for again. */
export function keepText(file: string, text: string): void {
  try {
    writeFileAtomic.sync(file, text, { mode: 0o600 });
  } catch {
    // Its folder is not ours to write to.
  }
}
