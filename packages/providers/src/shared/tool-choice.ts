// Which tool choice OpenAI's wires may ask a model for.
import type { ModelProfile, ToolChoice } from "@clew/plugin-sdk/host";

/** `named` is the wire's way to ask for one tool. A model that takes no force is left to choose. */
export function toolChoiceOf(
  toolChoice: ToolChoice,
  { calls }: ModelProfile,
  named: (name: string) => object,
): unknown {
  if (toolChoice === "none" || toolChoice === "auto") return toolChoice;
  if (!calls.canForce) return "auto";
  return typeof toolChoice === "string" ? toolChoice : named(toolChoice.name);
}
