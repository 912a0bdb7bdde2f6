"""What PyTorch makes of scattered blocks: gathered on the GPU, then one copy; and back.

Prints one line for each block size and direction: KiB, direction, GB/s. The blocks lie anywhere on
the GPU and one after the other on the host, which is all that this way can do.
"""

import time

import torch

TOTAL = 256 << 20
ROUNDS = 9


def rate(step):
    step()
    torch.cuda.synchronize()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        step()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    times.sort()
    return 2 * TOTAL / times[ROUNDS // 2] / 1e9


def measure(kib):
    words = (kib << 10) // 8
    blocks = TOTAL // (kib << 10)
    pool = torch.randint(1 << 62, (2 * blocks, words), dtype=torch.int64, device="cuda")
    slots = torch.randperm(2 * blocks, device="cuda")[:blocks]
    passage = torch.empty((blocks, words), dtype=torch.int64, device="cuda")
    host = torch.empty((blocks, words), dtype=torch.int64).pin_memory()

    def down():
        torch.index_select(pool, 0, slots, out=passage)
        host.copy_(passage, non_blocking=True)

    def up():
        passage.copy_(host, non_blocking=True)
        pool.index_copy_(0, slots, passage)

    print(kib, "DOWN", "%.2f" % rate(down))
    print(kib, "UP", "%.2f" % rate(up))


for kib in (16, 64, 256, 2048):
    measure(kib)
