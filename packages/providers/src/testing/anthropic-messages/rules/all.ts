// Every rule of the Messages wire, in the order they are checked.
import type { WireRule } from "../../server/wire.ts";
import { COMPACTION_RULES } from "../compaction.ts";
import type { MessagesView } from "../view.ts";
import { CACHE_RULES } from "./cache.ts";
import { IMAGE_RULES } from "./images.ts";
import { MESSAGE_RULES } from "./messages.ts";
import { MINIMAX_RULES } from "./minimax.ts";
import { SHAPE_RULES } from "./shape.ts";
import { THINKING_RULES } from "./thinking.ts";
import { TOOL_USE_RULES } from "./tool-use.ts";
import { TOOL_RULES } from "./tools.ts";

export const MESSAGES_RULES: readonly WireRule<MessagesView>[] = [
  ...MINIMAX_RULES,
  ...SHAPE_RULES,
  ...MESSAGE_RULES,
  ...TOOL_USE_RULES,
  ...IMAGE_RULES,
  ...THINKING_RULES,
  ...CACHE_RULES,
  ...COMPACTION_RULES,
  ...TOOL_RULES,
];
