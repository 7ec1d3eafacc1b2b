// One item that the model was shown, with its source, its size and its text.
import { useState } from "preact/hooks";
import { formatCount, formatNumberOf } from "../src/conversation/format.ts";
import type { ContextViewItem } from "../src/reports/context-view.ts";
import type { SegmentKind } from "./budget.ts";
import { describeSource } from "./describe-context.ts";

export interface ContextItemProps {
  item: ContextViewItem;
  /** Which segment of the budget bar it belongs to. */
  kind: SegmentKind;
  /** Tokens of the largest item: the length of the row's bar is measured by it. */
  largest: number;
  readWhole(): Promise<string>;
}

type Content = { kind: "closed" } | { kind: "reading" } | { kind: "text" | "failed"; text: string };

export function ContextItem({ item, kind, largest, readWhole }: ContextItemProps) {
  const [content, setContent] = useState<Content>({ kind: "closed" });
  const isOpen = content.kind !== "closed";
  const toggle = async () => {
    if (isOpen) return setContent({ kind: "closed" });
    setContent({ kind: "reading" });
    try {
      setContent({ kind: "text", text: await readWhole() });
    } catch (error) {
      setContent({ kind: "failed", text: error instanceof Error ? error.message : String(error) });
    }
  };
  const { origin, text } = describeSource(item);
  return (
    <li class="item" data-kind={kind}>
      <button type="button" aria-expanded={isOpen} onClick={() => void toggle()}>
        <span class="item-head">
          <span class="item-role">{roleOf(item)}</span>
          <span class="item-source" data-origin={origin}>
            {text}
          </span>
          <span class="item-reason" title={item.engineReason}>
            {item.reason}
          </span>
          {item.changed === true && <span class="item-changed">changed</span>}
          <span class="item-tokens">{formatCount(item.tokens)}</span>
        </span>
        <span class="item-size" aria-hidden="true">
          <span style={{ width: `${largest > 0 ? (item.tokens / largest) * 100 : 0}%` }} />
        </span>
        {!isOpen && (
          <span class="item-preview">{item.preview === "" ? "(no text)" : item.preview}</span>
        )}
      </button>
      {isOpen && (
        <div class="item-whole">
          <p class="soft">
            {item.reason}
            {item.engineReason === undefined ? "" : `: ${item.engineReason}`},{" "}
            {formatNumberOf(item.chars, "character")}
          </p>
          {content.kind === "reading" ? (
            <p class="soft">Reading…</p>
          ) : (
            <pre data-failed={content.kind === "failed"}>{content.text}</pre>
          )}
        </div>
      )}
    </li>
  );
}

const ROLES: Record<string, string> = {
  user: "person",
  assistant: "model",
  toolResult: "tool result",
  compactionSummary: "summary",
  branchSummary: "summary",
};

function roleOf({ role, source }: ContextViewItem): string {
  if (role !== undefined) return ROLES[role] ?? role;
  return source.kind === "tool-schema" ? "tool" : "system part";
}
