// Shows parsed Markdown as elements, never through markup.
import { Fragment, type VNode } from "preact";
import { memo } from "preact/compat";
import { type Block, type Inline, parseMarkdown } from "../src/conversation/markdown.ts";
import { Preformatted } from "./preformatted.tsx";

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div class="markdown">{parseMarkdown(text).map(showBlock)}</div>;
});

function showBlock(block: Block, index: number): VNode {
  switch (block.kind) {
    case "heading":
      // The page's own headings are above these in rank.
      return block.level <= 2 ? (
        <h3 key={index} dir="auto">
          {showInline(block.children)}
        </h3>
      ) : (
        <h4 key={index} dir="auto">
          {showInline(block.children)}
        </h4>
      );
    case "paragraph":
      return (
        <p key={index} dir="auto">
          {showInline(block.children)}
        </p>
      );
    case "quote":
      return (
        <blockquote key={index} dir="auto">
          {showInline(block.children)}
        </blockquote>
      );
    case "preformatted":
      return (
        <Preformatted key={index} label="Code">
          <code>{block.text}</code>
        </Preformatted>
      );
    case "rule":
      return <hr key={index} />;
    case "list": {
      const items = block.items.map((item, position) => (
        <li key={position} dir="auto">
          {showInline(item)}
        </li>
      ));
      return block.start === null ? (
        <ul key={index}>{items}</ul>
      ) : (
        <ol key={index} start={block.start}>
          {items}
        </ol>
      );
    }
  }
}

function showInline(parts: readonly Inline[]): VNode[] {
  return parts.map(showPart);
}

function showPart(part: Inline, index: number): VNode {
  switch (part.kind) {
    case "text":
      return <Fragment key={index}>{part.text}</Fragment>;
    case "code":
      return <code key={index}>{part.text}</code>;
    case "strong":
      return <strong key={index}>{showInline(part.children)}</strong>;
    case "emphasis":
      return <em key={index}>{showInline(part.children)}</em>;
    case "link":
      return (
        <a key={index} href={part.href} target="_blank" rel="noopener noreferrer">
          {part.text}
        </a>
      );
  }
}
