// One item of the chat, such as a person's words, a reply or a mark in the history.
import { memo } from "preact/compat";
import type { ChatItem, ReplyEnding, ReplyPart, ToolPart } from "../src/conversation/chat-view.ts";
import { formatNumberOf } from "../src/conversation/format.ts";
import { visible } from "../src/text/visible.ts";
import { CopyButton } from "./copy-button.tsx";
import { Markdown } from "./markdown-view.tsx";
import { Preformatted } from "./preformatted.tsx";

export const ChatItemView = memo(function ChatItemView({ item }: { item: ChatItem }) {
  if (item.kind === "person") return <PersonMessage text={item.text} images={item.images} />;
  if (item.kind === "answer")
    return <Answer command={item.command} text={item.text} isRefusal={item.isRefusal} />;
  if (item.kind === "mark") return <Mark text={item.text} detail={item.detail} />;
  return (
    <article class="reply" aria-label="Reply">
      {item.parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
      {item.ending !== null && <Ending ending={item.ending} />}
    </article>
  );
});

function PersonMessage({ text, images }: { text: string; images: number }) {
  return (
    <article class="person" aria-label="You" dir="auto">
      {text}
      {images > 0 && <span class="soft"> ({formatNumberOf(images, "image")})</span>}
    </article>
  );
}

function Part({ part }: { part: ReplyPart }) {
  if (part.kind === "text") return <Markdown text={part.text} />;
  if (part.kind === "tool") return <ToolCall tool={part} />;
  return (
    <details class="thinking">
      <summary>Thinking</summary>
      <p dir="auto">{part.text}</p>
    </details>
  );
}

const TOOL_STATES = {
  waiting: "no result",
  running: "running…",
  done: "done",
  failed: "failed",
  refused: "refused",
} satisfies Record<ToolPart["state"], string>;

function ToolCall({ tool: { name, input, state, output } }: { tool: ToolPart }) {
  return (
    <details class="tool" data-state={state}>
      <summary>
        <span class="tool-name">{visible(name)}</span>
        <span class="tool-input">{input.replace(/\s+/g, " ")}</span>
        <span class="tool-state">{TOOL_STATES[state]}</span>
      </summary>
      <Preformatted label={`Input of ${name}`}>{input}</Preformatted>
      {output !== null && (
        <Preformatted label={`Output of ${name}`}>
          {output === "" ? "(nothing)" : output}
        </Preformatted>
      )}
    </details>
  );
}

/** Tables keep their columns. */
function Answer({
  command,
  text,
  isRefusal,
}: {
  command: string;
  text: string;
  isRefusal: boolean;
}) {
  return (
    <article class="answer" aria-label={`Answer to ${command}`} data-refusal={isRefusal}>
      <p class="answer-head">
        <code>{command}</code>
        <CopyButton text={text} />
      </p>
      <Preformatted label={`Answer to ${command}`}>{text}</Preformatted>
    </article>
  );
}

function Ending({ ending: { kind, text } }: { ending: ReplyEnding }) {
  return <p class={`ending ${kind}`}>{text}</p>;
}

function Mark({ text, detail }: { text: string; detail: string | null }) {
  if (detail === null || detail === "") return <p class="mark">{text}</p>;
  return (
    <details class="mark">
      <summary>{text}</summary>
      <div class="mark-detail" dir="auto">
        {detail}
      </div>
    </details>
  );
}
