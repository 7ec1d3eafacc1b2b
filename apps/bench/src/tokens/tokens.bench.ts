// Whether counting tokens is linear, whatever the text.
import { estimateText, loadExactCounter, type TokenCounter } from "@clew/plugin-sdk/tokens";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";
import { type TextKind, textOfSize } from "../shared/texts.ts";

const MB = 2 ** 20;
const SIZES = [0.25, 0.5, 1];
const KINDS: readonly TextKind[] = ["x", "emoji", "base64", "english", "code"];
const METHODS = ["estimate", "exact"] as const;

/** Linear is ×4 from a quarter to a whole megabyte, quadratic ×16. */
const MOST_FOR_LINEAR = 7;

const caseName = (method: string, kind: TextKind, size: number) => `${method} ${kind} ${size} MB`;

// One tokeniser for all cases; remembering nothing, or the second round would only look up.
let exact: Promise<TokenCounter> | undefined;
const exactCounter = () => (exact ??= loadExactCounter({ rememberedChars: 0 }));

async function counterOf(method: (typeof METHODS)[number]): Promise<(text: string) => number> {
  if (method === "estimate") return (text) => estimateText(text).estimate;
  const counter = await exactCounter();
  return (text) => counter.count(text);
}

const cases = METHODS.flatMap((method) =>
  KINDS.flatMap((kind) =>
    SIZES.map((size): BenchCase => {
      return {
        name: caseName(method, kind, size),
        ...(size !== SIZES[0] && { compareTo: caseName(method, kind, SIZES[0]!) }),
        async prepare() {
          const text = textOfSize(kind, size * MB);
          const count = await counterOf(method);
          return { run: () => count(text), facts: () => ({ tokens: count(text) }) };
        },
      };
    }),
  ),
);

export default defineBench({
  name: "tokens",
  description: "counting 0.25, 0.5 and 1 MB of five kinds of text; linear is ×2 and ×4",
  cases,
  check(results: ReadonlyMap<string, CaseResult>) {
    return METHODS.flatMap((method) =>
      KINDS.flatMap((kind) => {
        const ratio = results.get(caseName(method, kind, 1))?.ratio ?? Number.POSITIVE_INFINITY;
        return ratio <= MOST_FOR_LINEAR
          ? []
          : [`${method} of ${kind} takes ×${ratio.toFixed(1)} for ×4 the text; linear is ×4.`];
      }),
    );
  },
});
