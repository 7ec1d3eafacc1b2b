// How the last turn went.
import type { ContextView } from "../src/reports/context-view.ts";
import { describeTurn, type Fact } from "./describe-context.ts";

export function TurnFacts({ view }: { view: ContextView }) {
  return (
    <ul class="facts" aria-label="The last turn">
      {describeTurn(view).map((fact) => (
        <FactView key={fact.label} fact={fact} />
      ))}
    </ul>
  );
}

function FactView({ fact: { label, value, lines, isBad, badLines } }: { fact: Fact }) {
  const words = (
    <>
      <span class="fact-label">{label}</span> <span class="fact-value">{value}</span>
    </>
  );
  return (
    <li class="fact" data-bad={isBad}>
      {lines.length === 0 ? (
        words
      ) : (
        <details open={isBad}>
          <summary>{words}</summary>
          <ul>
            {lines.map((line, index) => (
              <li key={index} data-bad={isBad && badLines?.includes(index) !== false}>
                {line}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}
