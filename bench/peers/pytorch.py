"""PyTorch as Python has it: lookups into a kept output, bags, products, cross-entropy."""
import ctypes
import os
import pathlib

import torch
import torch.nn.functional


class Torch:
    def __init__(self):
        # Threads that spin after a call would take a processor from whoever is timed next.
        if os.environ.get("GOMP_SPINCOUNT") != "0":
            raise ValueError("GOMP_SPINCOUNT=0 must be in the environment before PyTorch is loaded")
        # Debian's takes whatever libblas.so.3 it finds: the plain one is a hundred times slower.
        maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").split()
        self.blas = next((ctypes.CDLL(path) for path in maps if "/libopenblas" in path), None)
        if self.blas and os.environ.get("OPENBLAS_THREAD_TIMEOUT") != "4":
            raise ValueError("OPENBLAS_THREAD_TIMEOUT=4 must be in the environment before PyTorch is loaded")

    def need_blas(self):
        if not self.blas:
            raise ValueError("PyTorch has found no OpenBLAS: bench/peers/fetch.py blas, and bench/run.sh targets")

    def set_threads(self, threads):
        """torch.set_num_threads does not reach an OpenBLAS with threads of its own, which takes all processors."""
        torch.set_num_threads(threads)
        self.blas.openblas_set_num_threads(threads)

    def index_select(self, table, batches, out, threads):
        weights, target = torch.from_numpy(table), torch.from_numpy(out)
        given = [torch.from_numpy(batch) for batch in batches]

        def run(i):
            torch.set_num_threads(threads)
            torch.index_select(weights, 0, given[i], out=target)

        return run

    def bags(self, table, batches, offsets, out, threads, mode):
        """embedding_bag has no output to be given: its result is copied, 2 MB, a hundredth of the time."""
        weights, starts = torch.from_numpy(table), torch.from_numpy(offsets)
        given = [torch.from_numpy(batch) for batch in batches]
        target = torch.from_numpy(out)

        def run(i):
            torch.set_num_threads(threads)
            found = torch.nn.functional.embedding_bag(given[i], weights, starts, mode=mode, include_last_offset=True)
            target.copy_(found)

        return run

    def scatter(self, shape, batches, d_out, threads, kept):
        """index_add_ into a gradient that is kept."""
        target, come = torch.from_numpy(kept), torch.from_numpy(d_out)
        given = [torch.from_numpy(batch) for batch in batches]

        def run(i):
            torch.set_num_threads(threads)
            target.index_add_(0, given[i], come)

        return run

    def coalesced(self, shape, batches, d_out, threads, found):
        """What a sparse backward leaves, with its duplicates merged. found["sparse"] gets it."""
        come = torch.from_numpy(d_out)
        given = [torch.from_numpy(batch) for batch in batches]

        def run(i):
            torch.set_num_threads(threads)
            found["sparse"] = torch.sparse_coo_tensor(given[i].unsqueeze(0), come, shape).coalesce()

        return run

    def steps(self, table, d_out, batches, threads, kind, **settings):
        """A step of torch.optim.<kind> by the sparse gradient that a backward of this batch leaves."""
        weights, come = torch.from_numpy(table).requires_grad_(), torch.from_numpy(d_out)
        given = [torch.from_numpy(batch).unsqueeze(0) for batch in batches]
        optimizer = getattr(torch.optim, kind)([weights], **settings)

        def run(i):
            torch.set_num_threads(threads)
            weights.grad = torch.sparse_coo_tensor(given[i], come, weights.shape)
            optimizer.step()

        return run

    def logits(self, table, hidden, out, threads):
        self.need_blas()
        weights, given, target = (torch.from_numpy(array) for array in (table, hidden, out))

        def run(_):
            self.set_threads(threads)
            torch.mm(given, weights.t(), out=target)

        return run

    def losses(self, table, hidden, targets, threads, gradients):
        """linear and cross_entropy; with gradients also backward. Returns where results are found, and the call."""
        self.need_blas()
        weights, given = torch.from_numpy(table), torch.from_numpy(hidden)
        wanted, found = torch.from_numpy(targets), {}

        def run(_):
            self.set_threads(threads)
            left, right = given.detach(), weights.detach()
            if gradients:
                left.requires_grad_()
                right.requires_grad_()
            loss = torch.nn.functional.cross_entropy(torch.nn.functional.linear(left, right), wanted)
            if gradients:
                loss.backward()
                found["d_hidden"], found["d_table"] = left.grad.numpy(), right.grad.numpy()
            found["loss"] = float(loss)

        return found, run
