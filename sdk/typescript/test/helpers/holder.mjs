// Takes the directory of a worker and keeps it until it is killed.

import { takeIdentity } from "../../dist/worker/identity.js";

const [folder, id] = process.argv.slice(2);
const { workerId, previousDead, incarnation } = await takeIdentity("acme", folder, id);
process.send({ workerId, previousDead, incarnation });
setInterval(() => {}, 1_000_000);
