// What a call costs here beside a bare request of grpc-js: calls a second, and processor time of this process for each. One run of both,
// turn by turn, against the cluster of TOOLPLANE_ENDPOINT and its tool `native.noop` (or the one that is named).
import { credentials } from "@grpc/grpc-js";

import { connect } from "toolplane";
import { InvocationServiceClient, InvocationSpec } from "toolplane/v1/invocation_service";

const name = process.argv[2] ?? "native.noop";
const calls = Number(process.argv[3] ?? 2_000);
const tools = await connect();
const endpoint = new URL(process.env.TOOLPLANE_ENDPOINT ?? "http://127.0.0.1:7420").host;
const bare = new InvocationServiceClient(endpoint, credentials.createInsecure());
const modelInput = { body: { $case: "inline", value: Buffer.from("{}") }, sha256: Buffer.alloc(0), sizeBytes: 0n, mediaType: "", redaction: 0 };
const spec = InvocationSpec.fromPartial({ toolName: name, modelInput });

const ways = {
  bare: () =>
    new Promise((resolve, reject) =>
      bare.call({ spec, waitMs: 30_000 }, (error, answer) => (error ? reject(error) : resolve(answer))),
    ),
  package: () => tools.call(name),
};

async function measure(way, atOnce, count) {
  let left = count;
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await way();
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return { rate: count / ((performance.now() - begun) / 1000), micros: (user + system) / count };
}

for (const way of Object.values(ways)) await measure(way, 16, 300);
for (const atOnce of [1, 16, 64]) {
  const sums = { bare: { rate: 0, micros: 0 }, package: { rate: 0, micros: 0 } };
  const rounds = 4;
  for (let round = 0; round < rounds; round += 1) {
    for (const [key, way] of Object.entries(ways)) {
      const { rate, micros } = await measure(way, atOnce, Math.ceil(calls / rounds));
      sums[key].rate += rate / rounds;
      sums[key].micros += micros / rounds;
    }
  }
  const tell = ({ rate, micros }) => `${rate.toFixed(0)} calls/s, ${micros.toFixed(0)} µs of processor each`;
  const share = ((100 * sums.package.rate) / sums.bare.rate).toFixed(0);
  console.log(`${atOnce} at once: bare ${tell(sums.bare)}; package ${tell(sums.package)}; ${share} % of the calls/s`);
}
tools.close();
bare.close();
