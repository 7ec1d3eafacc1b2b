// Which texts and how many images a model is shown of one message; the basis of every count of messages.
import type { AgentMessage } from "../contract/message.ts";
import { toModelMessage } from "../transcript/model-view.ts";

export interface MessageParts {
  /** One text per block. */
  texts: string[];
  images: number;
}

/** The parts of `message` as a model sees it; undefined when it is not sent at all. */
export function messageParts(message: AgentMessage): MessageParts | undefined {
  const view = toModelMessage(message);
  if (view === undefined) return undefined;
  // Files of other programs hold blocks without their text; they count as empty.
  if (typeof view.content === "string") return { texts: [view.content], images: 0 };
  const texts: string[] = [];
  let images = 0;
  for (const block of view.content) {
    switch (block.type) {
      case "text":
        texts.push(block.text ?? "");
        break;
      case "thinking":
        texts.push(block.thinking ?? "");
        break;
      case "toolCall":
        texts.push(`${block.name}${JSON.stringify(block.arguments)}`);
        break;
      case "image":
        images++;
        break;
      case "redacted_thinking":
        texts.push(block.data ?? "");
        break;
      default:
        // A kind of a newer host: its JSON is the best guess at what will be sent.
        texts.push(JSON.stringify(block));
    }
  }
  return { texts, images };
}
