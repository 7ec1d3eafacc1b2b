// Says in words how a shadow engine compares with the one that answers.
import { counted, number } from "../text/number.ts";
import type { ShadowSummary } from "./shadow-lines.ts";

/** Pure. One sentence without a full stop. */
export function describeShadow({
  engine,
  calls,
  tokens,
  dollars,
  evidence,
  engineMs,
  troubles,
}: ShadowSummary): string {
  const perCall = (sum: number) => (calls === 0 ? 0 : sum / calls);
  const compared =
    calls === 0
      ? "no call compared yet"
      : [
          `${counted(calls, "call")} compared`,
          `${number(Math.round(perCall(tokens.shadow)))} tokens per call where ${number(Math.round(perCall(tokens.made)))} were sent`,
          ...(dollars === null
            ? []
            : [
                `$${dollars.shadow.toFixed(4)} where it would be $${dollars.made.toFixed(4)}, both by what a prompt cache is expected to give`,
              ]),
          ...(evidence.needed === 0
            ? []
            : [
                `${evidence.shadow} of ${evidence.needed} needed names in view where ${evidence.made} were`,
              ]),
          `${perCall(engineMs.shadow).toFixed(1)} ms per call where ${perCall(engineMs.made).toFixed(1)} were taken`,
        ].join(", ");
  const { count, last } = troubles;
  const trouble =
    last === null
      ? ""
      : `; ${counted(count, "turn")} went wrong, the last: ${last.text.replace(/\.$/, "")}`;
  return `${engine}: ${compared}${trouble}`;
}
