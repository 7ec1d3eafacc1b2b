// Previews and makes compactions, and names the one to undo before it is undone.
import type { Api } from "../api.ts";
import { type ActionButton, ActionPanel } from "./action-panel.tsx";
import { type CommandOutcome, runCommand } from "./run-command.ts";

export interface CompactionPanelProps {
  chat: Pick<Api, "send">;
  session: string;
  onDone(): void;
}

export function CompactionPanel({ chat, session, onDone }: CompactionPanelProps) {
  const button = (label: string, line: string): ActionButton => ({
    ...{ label, title: line },
    run: () => runCommand(chat, session, line),
  });
  return (
    <ActionPanel
      label="Compaction"
      hint="Replaces older history by a summary. A preview changes nothing; what was compacted can be undone, byte for byte."
      buttons={[
        button("Preview", "/compact --dry-run"),
        button("Compact now", "/compact"),
        {
          ...button("Undo the last one…", "/compact undo --dry-run"),
          // Another compaction than the one that was named is not undone.
          next: (outcome) => {
            const entryId = targetOf(outcome);
            return entryId === null ? null : button("Undo it", `/compact undo --only ${entryId}`);
          },
        },
      ]}
      onDone={onDone}
    />
  );
}

/** Null: there is nothing to undo. */
function targetOf({ ok, data }: CommandOutcome): string | null {
  const { entryId } = (data ?? {}) as { entryId?: unknown };
  return ok && typeof entryId === "string" ? entryId : null;
}
