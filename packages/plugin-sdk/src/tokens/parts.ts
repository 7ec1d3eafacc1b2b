// Which texts and how many images of a message a model is shown.
import type { AgentMessage } from "../contract/message.ts";
import { blocksOf, stringOf } from "../messages/blocks.ts";
import { toModelMessage } from "../messages/model-view.ts";

export interface MessageParts {
  /** One text per block that is not an image. */
  texts: string[];
  images: number;
}

/** The parts of `message` as a model sees it; undefined when it is not sent at all. */
export function messageParts(message: AgentMessage): MessageParts | undefined {
  const view = toModelMessage(message);
  if (view === undefined) return undefined;
  const texts: string[] = [];
  let images = 0;
  for (const block of blocksOf(view.content)) {
    switch (block.type) {
      case "image":
        images++;
        break;
      case "text":
        texts.push(stringOf(block.text));
        break;
      case "thinking":
        texts.push(
          block.carried === undefined ? stringOf(block.thinking) : JSON.stringify(block.carried),
        );
        break;
      case "redacted_thinking":
        texts.push(stringOf(block.data));
        break;
      case "toolCall":
        texts.push(stringOf(block.name) + (JSON.stringify(block.arguments) ?? ""));
        break;
      case "provider":
        texts.push(JSON.stringify(block.data) ?? "");
        break;
      default:
        // A kind of a newer host: its JSON is the best guess at what will be sent.
        texts.push(JSON.stringify(block));
    }
  }
  return { texts, images };
}
