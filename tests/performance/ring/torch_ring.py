# SPDX-License-Identifier: BSL-1.0
# Ring attention in PyTorch on two processes: SDPA of each part of the keys, merged by logsumexp, sent by
# gloo while the next part is computed. Prints the best of so many runs, as ring_wall does.
#   python torch_ring.py [N [REPEATS]]
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

HEADS, WIDTH = 8, 64


def part(q, k, v, causal):
    """Attention and its logsumexp, [heads, n, width] and [heads, n]."""
    out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q[None], k[None], v[None], 0.0, causal)
    return out[0], lse[0]


def merged(out, lse, more, more_lse):
    both = torch.logaddexp(lse, more_lse)
    return out * (lse - both).exp()[..., None] + more * (more_lse - both).exp()[..., None], both


def ring(rank, q, k, v, causal):
    """Two runs of queries each, zigzag: of the rank, and of its mirror."""
    half = q.shape[1] // 2
    runs = [0, 3] if rank == 0 else [1, 2]
    next_k, next_v = torch.empty_like(k), torch.empty_like(v)
    state = [None, None]
    for hop in range(2):
        of = [0, 3] if (rank - hop) % 2 == 0 else [1, 2]
        requests = []
        if hop == 0:
            for sent, received in ((k, next_k), (v, next_v)):
                requests += [dist.isend(sent, 1 - rank), dist.irecv(received, 1 - rank)]
        for i, run in enumerate(runs):
            for j, keys in enumerate(of):
                if causal and keys > run:
                    continue
                slices = slice(j * half, (j + 1) * half)
                more = part(q[:, i * half:(i + 1) * half], k[:, slices], v[:, slices], causal and keys == run)
                state[i] = more if state[i] is None else merged(*state[i], *more)
        for request in requests:
            request.wait()
        k, v = next_k, next_v
    return torch.cat([s[0] for s in state], 1)


def main(rank, n, repeats):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29501")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(7)
    whole = [torch.randn(HEADS, n, WIDTH) for _ in range(3)]
    quarter = n // 4
    runs = [0, 3] if rank == 0 else [1, 2]
    own = [torch.cat([x[:, r * quarter:(r + 1) * quarter] for r in runs], 1).contiguous() for x in whole]
    for causal in (True, False):
        expected = part(*whole, causal)[0]
        got = ring(rank, *own, causal)
        wanted = torch.cat([expected[:, r * quarter:(r + 1) * quarter] for r in runs], 1)
        assert (got - wanted).abs().max() < 1e-4
        best = 1e9
        for _ in range(repeats):
            dist.barrier()
            began = time.perf_counter()
            ring(rank, *own, causal)
            dist.barrier()
            best = min(best, time.perf_counter() - began)
        if rank == 0:
            print(f"{'causal' if causal else 'full':7} n {n}: torch, gloo, 2 processes {1e3 * best:.1f} ms", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(main, args=(int(sys.argv[1]) if len(sys.argv) > 1 else 8192,
                         int(sys.argv[2]) if len(sys.argv) > 2 else 9), nprocs=2)
