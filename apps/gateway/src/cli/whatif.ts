// Runs `clew whatif`, a session as another engine or window would have it.

import { type Figures, figuresOf, formatComparison } from "../lab/compare.ts";
import { describeCosts } from "../lab/describe-costs.ts";
import { formatEachCall } from "../lab/describe-what-if.ts";
import type { WhatIfAsk } from "../lab/shapes.ts";
import { runWhatIf } from "../lab/what-if.ts";
import { perCall } from "../replay/summary.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { counted, number } from "../text/number.ts";
import { showProgress } from "./progress.ts";
import { setUp } from "./setup.ts";

export async function whatIfCommand(
  session: string,
  { json = false, ...ask }: WhatIfAsk & { json?: boolean },
  shell: Shell,
): Promise<number> {
  const { environment, loaded, log, output } = await setUp(
    shell,
    {},
    { showProblems: true, logOf: null },
  );
  const cancelled = new AbortController();
  const onSignal = () => cancelled.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const { signal } = cancelled;
  const progress = showProgress(output, session);
  try {
    const onProgress = progress.show;
    const whatIf = await runWhatIf({
      ...{ environment, loaded, log, session, ask, signal, onProgress },
    });
    if (json) output.json(whatIf);
    else {
      const { asItWas, played } = whatIf;
      const figures: Figures = figuresOf({ recording: session, ...played });
      output.line(printable(formatEachCall(whatIf)));
      output.line("");
      output.line(printable(formatComparison([figures])));
      output.line(
        `As it was (${printable(asItWas.engine ?? "no engine")}): ${counted(asItWas.calls, "call")}${asItWas.unanswered === 0 ? "" : `, of which ${number(asItWas.unanswered)} had no answer`}, ${number(perCall([asItWas.tokens.total], asItWas.calls - asItWas.unanswered))} tokens per answered call, at most ${number(asItWas.tokens.max)}, ${number(asItWas.tokens.total)} sent in all. Played in a window of ${number(played.contextWindow)} tokens.`,
      );
      const costs = describeCosts(whatIf);
      if (costs !== null) output.line(costs);
      if (played.engine.degraded !== null)
        output.line(
          printable(`Engine ${played.engine.asked} was set aside: ${played.engine.degraded}.`),
        );
    }
    return 0;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    log.close();
  }
}
