// The command `pnpm bench gateway-kills`, which kills gateways in turns and counts damage.
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type KillResult,
  killGateways,
} from "../../../../packages/store-postgres/src/testing/kill-gateways.ts";
import {
  createDatabase,
  startPostgres,
} from "../../../../packages/store-postgres/src/testing/server.ts";
import { countOptions } from "./count-options.ts";
import { say } from "./tell-lost.ts";

export const description =
  "gateways on one PostgreSQL, killed and frozen in turns: nothing lost, doubled or misplaced";

const USAGE = `Usage: pnpm bench gateway-kills [--kills N] [--control N] [--ttl MS]

  --kills N    how many gateways end in the middle of turns, every fourth frozen (default: 200)
  --control N  the same without a fence, all frozen, which must do damage (default: 10)
  --ttl MS     after this time unheard of a gateway is dead (default: 600)

Exit code 0, 1 where something was lost, doubled or misplaced, or the control did no damage, 2 for
wrong options.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const asked = countOptions(args, { kills: 200, control: 10, ttl: 600 });
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return args[0] === "--help" ? 0 : 2;
  }
  const { kills, control, ttl: ttlMs } = asked;
  // Where whoever the server runs as gets in.
  const folder = join(tmpdir(), `clew-kills-${process.pid}`);
  const server = await startPostgres({ folder });
  try {
    const onEnd = (done: number) => void (done % 20 === 0 && say(`${done} of ${kills} ended`));
    const ends = Array.from({ length: kills }, (_, index) => (index % 4 === 3 ? "freeze" : "kill"));
    const fenced = await killGateways({
      ...{ url: await createDatabase(server, "fenced"), ttlMs, onEnd },
      ends: ends as ("freeze" | "kill")[],
    });
    report(`${kills} ends`, fenced, ttlMs);
    const free = await killGateways({
      ...{ url: await createDatabase(server, "free"), ttlMs, isFenced: false },
      ends: Array<"freeze">(control).fill("freeze"),
    });
    report(`control without a fence, ${control} frozen`, free, ttlMs);
    const isWhole = damageOf(fenced) + fenced.unpaired.length + fenced.outlived.length === 0;
    return isWhole && damageOf(free) > 0 ? 0 : 1;
  } finally {
    await server.stop();
  }
}

const damageOf = ({ lost, doubled, misplaced }: KillResult) =>
  lost.length + doubled.length + misplaced.length;

function report(what: string, result: KillResult, ttlMs: number): void {
  const { entries, turns, lost, doubled, misplaced, unpaired, refused, takeovers, outlived } =
    result;
  say(`${what}: ${entries} entries, ${turns} acknowledged turns`);
  say(
    `  ${lost.length} turns lost, ${doubled.length} entries doubled, ${misplaced.length} out of order, ${unpaired.length} sessions with other acknowledgements or reports; ${refused} late writes refused`,
  );
  if (outlived.length > 0) say(`  ${outlived.length} gateways did not notice that they were dead`);
  const at = (share: number) =>
    Math.round(
      takeovers[Math.min(takeovers.length - 1, Math.floor(takeovers.length * share))] ?? 0,
    );
  say(
    `  taken over after ${at(0.5)} ms median, ${at(0.95)} ms p95, ${at(1)} ms worst (dead after ${ttlMs} ms)`,
  );
}
