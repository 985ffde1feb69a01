#!/usr/bin/env python3
"""Programs that know nothing of gpustrata, to be run by `gpustrata run`: one thing a process.   run_programs.py NAME [ARGUMENTS...]"""
import os
import sys

import torch

MIB = 1 << 20
OBSERVE = "RUN_PROGRAMS_OBSERVE" in os.environ  # of the callbacks


class Layer(torch.nn.Module):
    """No matrix product: its library would look for a device."""

    def __init__(self, width, device="cuda"):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width, device=device))

    def forward(self, x):
        return torch.relu(x * self.weight)


def steps(count, batch=16, width=300_000, device="cuda", growth=0):
    model = torch.nn.Sequential(*[Layer(width, device) for _ in range(4)])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, foreach=False)
    for step in range(count):
        with torch.profiler.record_function(f"step {step}"):
            model(torch.empty(batch + growth * step, width, device=device)).sum().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return model


def tensor(bytes_wanted):
    return torch.empty(bytes_wanted, dtype=torch.uint8, device="cuda")


def train(count="4"):
    steps(int(count))


def memory_stays():
    """Four steps, a model that is there at the end, and one that was large and is not."""
    global stays
    stays = steps(4)
    large = [tensor(30 * MIB) for _ in range(3)]
    del large[1]
    stays_too = tensor(700)
    print(len(large), stays_too.numel())
    globals().update(large=large, small=stays_too)


def train_growing(count):
    """Step n has a batch of 16 + n rows of 1.2 MB."""
    steps(int(count), growth=1)


def train_and_record(path, count="4"):
    """The same, with PyTorch's history begun by the program before anything else."""
    torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
    steps(int(count))
    torch.cuda.memory._dump_snapshot(path)


def grow():
    """Until memory runs out, which nobody catches."""
    steps(1000, growth=4)


def caught(times):
    """Out of memory that the program catches, and goes on."""
    for _ in range(int(times)):
        try:
            tensor(1 << 40)
        except torch.OutOfMemoryError:
            pass
    steps(2)


def caught_and_then(times):
    caught(times)
    tensor(1 << 40)


def waits(where):
    """Two steps, then something that does not return, as a collective whose peer is gone."""
    import time

    steps(2)
    print("ready", flush=True)
    if where == "python":
        while True:  # a signal ends one sleep
            time.sleep(600)
    if where == "loop":
        import asyncio

        asyncio.run(asyncio.sleep(600))
    torch.distributed.init_process_group("gloo", init_method=f"file://{where}", rank=0, world_size=2)


def signals_a_child():
    """One that was forked after the device was used."""
    import signal
    import time

    steps(1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"1")
        for _ in range(20):
            time.sleep(0.05)
        os._exit(0)
    os.read(reader, 1)
    os.kill(child, signal.SIGUSR2)
    print(os.waitpid(child, 0)[1])


def handles_a_signal():
    """As a program does that knows nothing of us."""
    import signal

    signal.signal(signal.SIGUSR2, lambda *_: print("handled"))
    steps(1)
    os.kill(os.getpid(), signal.SIGUSR2)


def asks_until_killed(done):
    """After each request its number is in `done`."""
    import itertools

    for number in itertools.count():
        tensor(512 * (1 + number % 1000))
        done[:8] = (number + 1).to_bytes(8, "little")


def killed(count, seed):
    """Children that ask for memory until they are killed: of each its id, and how many requests had returned."""
    import mmap
    import random
    import signal
    import time

    choose = random.Random(int(seed))
    for _ in range(int(count)):
        done = mmap.mmap(-1, 8)
        child = os.fork()
        if child == 0:
            asks_until_killed(done)
        while done[:8] == bytes(8):
            time.sleep(0.001)
        time.sleep(choose.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(child, int.from_bytes(done[:8], "little"), flush=True)


def interrupted(number):
    """A signal after three steps. What begins this in the background may have had SIGINT ignored."""
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)
    steps(3)
    os.kill(os.getpid(), int(number))


def own_history(path):
    """It records itself, from the middle on, and takes a snapshot of its own."""
    steps(2)
    torch.cuda.memory._record_memory_history(max_entries=50)
    with torch.profiler.record_function("mine"):
        steps(2)
    torch.cuda.memory._dump_snapshot(path)


def own_history_ends(path):
    own_history(path)
    torch.cuda.memory._record_memory_history(enabled=None)
    steps(1)


def own_snapshot(path):
    """It only asks: what it gets is what is there."""
    steps(2)
    torch.cuda.memory._dump_snapshot(path)
    assert torch.cuda.memory_stats()["allocation.all.allocated"] > 0


def own_observer():
    seen = []
    tensor(1000)
    torch._C._cuda_attach_out_of_memory_observer(lambda *numbers: seen.append(numbers[:2]))
    try:
        tensor(1 << 40)
    except torch.OutOfMemoryError:
        pass
    print(seen)


def of_rank(backend="gloo"):
    """One of several processes, each with a device of its own. The group is gone before the end."""
    torch.distributed.init_process_group(backend)
    rank = torch.distributed.get_rank()
    torch.cuda.set_device(rank)
    steps(1 + rank, device=f"cuda:{rank}")
    torch.distributed.destroy_process_group()


def child(_, count=3):
    steps(count)


def rank_of_spawned(rank, world):
    """The rank is not in the environment, and the group is gone before the end."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["PORT"])
    torch.distributed.init_process_group("gloo", rank=rank, world_size=world)
    steps(1 + rank)
    torch.distributed.destroy_process_group()


def spawn_ranks():
    torch.multiprocessing.spawn(rank_of_spawned, (2,), nprocs=2)


def processes(method):
    """Two children that use the device, of a parent that does not."""
    context = torch.multiprocessing.get_context(method)
    children = [context.Process(target=child, args=(number, 3)) for number in range(2)]
    for one in children:
        one.start()
    for one in children:
        one.join()
    sys.exit(max(one.exitcode for one in children))


def fork():
    """A child by os.fork() before the first use of CUDA; parent and child use it."""
    number = os.fork()
    steps(1 if number == 0 else 2)
    if number:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((1000,), float(index))


def loader(method):
    """Workers that use no device, begun after the parent used it."""
    steps(1)
    data = torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context=method)
    print(sum(float(batch.sum()) for batch in data))


def processor():
    torch.nn.Linear(4, 4)(torch.randn(2, 4)).sum().backward()
    print("done")


def thread():
    import threading

    one = threading.Thread(target=steps, args=(2,))
    one.start()
    one.join()


def replaced():
    """With gpustrata's own allocator, which has a recorder of its own."""
    import gpustrata

    assert gpustrata.install() is True
    gpustrata.record_memory_history()
    steps(1)
    print(len(gpustrata.snapshot()["device_traces"][0]) > 100)


def with_record(path):
    import gpustrata

    steps(1)
    with gpustrata.record(path) as one:
        steps(2)
    print(one.path)
    steps(1)


def with_record_twice(first, second):
    import gpustrata

    with gpustrata.record(first) as one:
        steps(1)
        with gpustrata.record(second) as two:
            steps(2)
        steps(1)
    print(one.path, two.path)


def decorated(path, fails):
    import gpustrata

    @gpustrata.record(on_oom=path)
    def main():
        steps(2)
        if fails == "yes":
            tensor(1 << 40)

    main()


class WithLoss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer(300_000, "cpu")

    def forward(self, x):
        return {"loss": self.layer(x).sum()}


class Rows(torch.utils.data.Dataset):
    """40 of 1.2 MB: 10 steps of 4."""

    def __len__(self):
        return 40

    def __getitem__(self, index):
        return {"x": torch.zeros(300_000)}


def hugging_face(*more):
    import transformers
    from gpustrata.integrations import hf

    callback = (hf.Callback("hf-{rank}.pickle", steps=(3, 5), observe=OBSERVE) if not more else
                hf.Callback(on_oom="hf-oom.pickle", observe=OBSERVE))
    arguments = transformers.TrainingArguments("out", per_device_train_batch_size=4, num_train_epochs=1, report_to=[],
                                               save_strategy="no", optim="sgd", disable_tqdm=True, max_grad_norm=0)

    class Failing(transformers.TrainerCallback):
        def on_step_end(self, *_, **__):
            if more:
                tensor(1 << 40)

    transformers.Trainer(WithLoss(), arguments, train_dataset=Rows(), callbacks=[callback, Failing()]).train()
    print(callback.path)


def lightning_(*more):
    import lightning.pytorch as pl
    from gpustrata.integrations import lightning

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = Layer(300_000, "cpu")

        def training_step(self, batch, _):
            if more:
                tensor(1 << 40)
            return self.layer(batch["x"]).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1, foreach=False)

    callback = (lightning.Callback("pl-{rank}.pickle", steps=(3, 5), observe=OBSERVE) if not more else
                lightning.Callback(on_oom="pl-oom.pickle", observe=OBSERVE))
    trainer = pl.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, devices=1,
                         accelerator="cuda", enable_model_summary=False, callbacks=[callback])
    try:
        trainer.fit(Module(), torch.utils.data.DataLoader(Rows(), batch_size=4))
    finally:
        print(callback.path)


def async_backend():
    """An allocator that keeps no history."""
    tensor(1000)
    print(torch.cuda.memory.get_allocator_backend())


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
