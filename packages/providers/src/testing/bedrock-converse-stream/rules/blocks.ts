// Rules of the Converse wire about content blocks.
import { isRecord } from "@clew/plugin-sdk/host";
import { first, list, record, text, words } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import { type Block, type ConverseView, having, heldBy } from "../view.ts";

const BY_USERS = words(
  "text image document video audio toolResult guardContent cachePoint searchResult toolAddition toolRemoval",
);
const BY_MODELS = words("text toolUse cachePoint reasoningContent citationsContent");
const MEMBERS = new Set([...BY_USERS, ...BY_MODELS]);
const FORMATS = words("png jpeg gif webp");
const MOST_BYTES = 3.75 * 2 ** 20;
const MOST_IMAGES = 20;
const MODEL_SAYS = "The model returned the following errors: ";

const images = ({ blocks }: ConverseView) => having(blocks, "image");
const reasoning = ({ blocks }: ConverseView) => having(blocks, "reasoningContent");
const bytesOf = (block: Block) => text(record(heldBy(block, "image").source).bytes);
const reasoningText = (block: Block) => heldBy(block, "reasoningContent").reasoningText;
const isReasoning = (block: Block | undefined) =>
  block !== undefined && "reasoningContent" in block.value;

export const BLOCK_RULES: readonly WireRule<ConverseView>[] = [
  rejects("content.empty", ({ messages }) =>
    first(
      messages,
      ({ value }) => list(value.content).length === 0,
      ({ path }) =>
        `The content field in the Message object at ${path} is empty. Add a ContentBlock object to the content field and try again.`,
    ),
  ),
  rejects("block.union", ({ blocks }) =>
    first(
      blocks,
      ({ members }) => members.length !== 1 || !MEMBERS.has(members[0]!),
      ({ path }) => `The ContentBlock object at ${path} must set exactly one known member.`,
    ),
  ),
  rejects("block.role", ({ blocks }) =>
    first(
      blocks,
      ({ role, members: [member = ""] }) =>
        MEMBERS.has(member) &&
        (role === "user" || role === "assistant") &&
        !(role === "user" ? BY_USERS : BY_MODELS).has(member),
      ({ path, role, members }) => `${path}: ${members[0]} is not allowed in ${role} messages.`,
    ),
  ),
  rejects("text.blank", ({ blocks }) =>
    first(
      having(blocks, "text"),
      ({ value }) => text(value.text).trim() === "",
      ({ path }) =>
        `The text field in the ContentBlock object at ${path} is blank. Add text to the text field, and try again.`,
    ),
  ),
  rejects("image.shape", (view) =>
    first(
      images(view),
      (block) => {
        const { format, source } = heldBy(block, "image");
        const { bytes, s3Location } = record(source);
        return !FORMATS.has(text(format)) || (text(bytes) === "" && !isRecord(s3Location));
      },
      ({ path }) =>
        `Value at '${path}.member.image' failed to satisfy constraint: format must be one of [png, jpeg, gif, webp] and source.bytes must be set`,
    ),
  ),
  rejects("image.size", (view) =>
    first(
      images(view),
      (block) => bytesOf(block).length * 0.75 > MOST_BYTES,
      ({ path }) => `${path}: the image is larger than 3.75 MB`,
    ),
  ),
  rejects("image.count", (view) =>
    first(
      view.messages,
      ({ blocks }) => having(blocks, "image").length > MOST_IMAGES,
      ({ path }) => `${path}: more than ${MOST_IMAGES} images in one message`,
    ),
  ),
  rejects("document.needs_text", ({ messages }) =>
    first(
      messages,
      ({ blocks }) => having(blocks, "document").length > 0 && having(blocks, "text").length === 0,
      ({ path }) => `${path}: a message with a document must also have a text block`,
    ),
  ),
  rejects("reasoning.shape", (view) =>
    first(
      reasoning(view),
      (block) => {
        const { redactedContent } = heldBy(block, "reasoningContent");
        return (
          typeof record(reasoningText(block)).text !== "string" && text(redactedContent) === ""
        );
      },
      ({ path }) =>
        `${path}.reasoningContent must hold a reasoningText with text, or redactedContent.`,
    ),
  ),
  rejects("reasoning.signature", (view) =>
    view.isClaude
      ? first(
          reasoning(view),
          (block) =>
            typeof record(reasoningText(block)).text === "string" &&
            text(record(reasoningText(block)).signature) === "",
          ({ path }) => `${MODEL_SAYS}${path}.thinking.signature: Field required`,
        )
      : undefined,
  ),
  rejects("reasoning.signature_foreign", (view) =>
    view.isClaude
      ? undefined
      : first(
          reasoning(view),
          (block) => record(reasoningText(block)).signature !== undefined,
          () =>
            "This model doesn't support the reasoningContent.reasoningText.signature field. Remove reasoningContent.reasoningText.signature and try again.",
        ),
  ),
  rejects("reasoning.must_lead", doesNotLead),
  rejects("reasoning.must_not_end", ({ messages, isClaude }) =>
    isClaude
      ? first(
          messages,
          ({ role, blocks }) => role === "assistant" && isReasoning(blocks.at(-1)),
          ({ path }) =>
            `${MODEL_SAYS}${path}: The final block in an assistant message cannot be \`thinking\`.`,
        )
      : undefined,
  ),
];

/** With a budget, the turn that asked for the last results must begin with its thinking. */
function doesNotLead({ messages, thinking, isClaude }: ConverseView): string | undefined {
  const asking = messages.at(-2);
  const answering = having(messages.at(-1)?.blocks ?? [], "toolResult").length > 0;
  if (!isClaude || thinking !== "enabled" || !answering || asking?.role !== "assistant")
    return undefined;
  return isReasoning(asking.blocks[0])
    ? undefined
    : `${MODEL_SAYS}${asking.path}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`.`;
}
