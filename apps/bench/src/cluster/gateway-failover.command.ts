// The command `pnpm bench gateway-failover`, which kills gateways under their clients.
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createDatabase,
  startPostgres,
} from "../../../../packages/store-postgres/src/testing/server.ts";
import { killGatewaysOverHttp } from "../../../gateway/src/testing/killed-gateways.ts";
import { gatewayCommand } from "../gateway/gateway-process.ts";
import { countOptions } from "./count-options.ts";
import { isNothingLost, say, tellLost } from "./tell-lost.ts";

export const description =
  "two gateways of one PostgreSQL, killed in turns under clients that go on at the other";

const USAGE = `Usage: pnpm bench gateway-failover [--sessions N] [--seconds N] [--every N] [--dead N]

  --sessions N  clients, each in a session of its own (default: 200)
  --seconds N   how long they talk (default: 600)
  --every N     time from one kill -9 to the next, s (default: 20)
  --dead N      a gateway unheard of for so long is dead, s (default: 5)

Exit code 0, 1 where a message is lost, doubled or out of order, 2 for wrong options.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const asked = countOptions(args, { sessions: 200, seconds: 600, every: 20, dead: 5 });
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return args[0] === "--help" ? 0 : 2;
  }
  const { sessions, seconds, every, dead } = asked;
  const kills = Math.max(1, Math.floor(seconds / every) - 1);
  const server = await startPostgres({ folder: join(tmpdir(), `clew-failover-${process.pid}`) });
  try {
    const result = await killGatewaysOverHttp({
      ...{ databaseUrl: await createDatabase(server, "failover"), sessions, kills },
      ...{ killEveryMs: every * 1000, deadAfterSeconds: dead, command: gatewayCommand() },
      onKill: (done) => say(`${done} of ${kills} killed`),
    });
    const { acknowledged, repeated, takeovers } = result;
    say(`${sessions} sessions, ${kills} kills: ${acknowledged} messages whose end was told`);
    tellLost(result, `${repeated} sent again`);
    const sorted = takeovers.toSorted((a, b) => a - b);
    say(
      `  answered again after ${sorted[Math.floor(sorted.length / 2)]} ms median, ${sorted.at(-1)} ms worst (dead after ${dead} s)`,
    );
    return isNothingLost(result) ? 0 : 1;
  } finally {
    await server.stop();
  }
}
