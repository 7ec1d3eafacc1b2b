// Leads one plugin through the session in one host, and keeps what came of it.
import type { TestedHost } from "./hosts/host.ts";
import type { ModelServer, SentRequest } from "./model-server.ts";
import type { Step } from "./session-script.ts";

/** What one step came to. */
export interface StepOutcome {
  step: Step;
  ok: boolean;
  /** What came back, for people. */
  text: string;
  /** What the model was asked meanwhile. */
  requests: SentRequest[];
  /** Which methods of the engine were called meanwhile, where somebody wrote it down. */
  calls: string[];
}

export async function lead(
  host: TestedHost,
  model: ModelServer,
  { steps, newCalls }: { steps: readonly Step[]; newCalls: () => string[] },
): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  // What an install and a start did is no part of the session.
  model.newRequests();
  newCalls();
  for (const step of steps) {
    const { ok, text } = await take(host, step);
    outcomes.push({ step, ok, text, requests: model.newRequests(), calls: newCalls() });
  }
  return outcomes;
}

async function take(host: TestedHost, step: Step): Promise<{ ok: boolean; text: string }> {
  try {
    if (step.kind === "say") return await host.say(step.text);
    if (step.kind === "compact") return await host.compact();
    await host.stop();
    await host.start();
    return { ok: true, text: "" };
  } catch (error) {
    return { ok: false, text: String(error) };
  }
}
