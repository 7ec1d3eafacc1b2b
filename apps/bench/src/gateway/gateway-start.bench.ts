// How long a gateway takes to answer, and how much memory it holds then.
import { defineBench } from "../runner/bench.ts";
import { newHome, startGateway } from "./gateway-process.ts";

const MB = 2 ** 20;

export default defineBench({
  name: "gateway-start",
  description: "process started to address printed and health answered; goals: 300 ms, 100 MB",
  cases: [
    {
      name: "start",
      async prepare() {
        const home = await newHome();
        let [rssMB, processorMs] = [0, 0];
        const start = async () => {
          const gateway = await startGateway({ home });
          await (await fetch(`${gateway.url}/api/health`)).json();
          processorMs = await gateway.processorMs();
          rssMB = (await gateway.rss()) / MB;
          await gateway.stop();
        };
        // The first one makes the demo session, and keeps what it compiled.
        await start();
        return { run: start, facts: () => ({ rssMB: Math.round(rssMB), processorMs }) };
      },
    },
  ],
});
