// Every rule of the Responses wire, in the order they are checked.
import type { WireRule } from "../../server/wire.ts";
import type { ResponsesView } from "../view.ts";
import { CALL_RULES } from "./calls.ts";
import { ITEM_RULES } from "./items.ts";
import { SHAPE_RULES } from "./shape.ts";

export const RESPONSES_RULES: readonly WireRule<ResponsesView>[] = [
  ...SHAPE_RULES,
  ...ITEM_RULES,
  ...CALL_RULES,
];
