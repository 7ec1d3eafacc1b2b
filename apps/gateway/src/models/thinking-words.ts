// Says where a model is told something else about thinking than a person said.
import type { ThinkingSent } from "@clew/providers";
import type { ThinkingLevel } from "../config/params.ts";
import { number } from "../text/number.ts";

/** Goes on behind the level; blank where the model is told what was said. */
export function howItIsSent(level: ThinkingLevel, sent: ThinkingSent): string {
  if (level === "adaptive")
    return sent.kind === "off" ? ", which this model does not know: it does not think" : "";
  if (level === "off") {
    if (sent.kind === "off") return "";
    return `, but this model cannot be told not to think${sent.kind === "on" ? `; asked for its least${amountOf(sent)}` : ""}`;
  }
  if (sent.kind === "unsaid") return ", which this model cannot be told";
  if (sent.kind === "off") return ", but a reply has no room for it: it does not think";
  if (sent.budgetTokens !== undefined) return `, sent as ${number(sent.budgetTokens)} tokens`;
  return sent.effort === undefined || sent.effort === level ? "" : `, sent as ${sent.effort}`;
}

const amountOf = ({ effort, budgetTokens }: Extract<ThinkingSent, { kind: "on" }>): string => {
  if (effort !== undefined) return `: ${effort}`;
  return budgetTokens === undefined ? "" : `: ${number(budgetTokens)} tokens`;
};
