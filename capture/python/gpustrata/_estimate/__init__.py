"""`gpustrata estimate` and gpustrata.estimate: the memory of a PyTorch program, foretold without a GPU.

The program runs with fake tensors (torch._subclasses.fake_tensor), which have shapes and no values. Every storage of them is a block:
requested when it is made, given back when the last tensor of it goes. These requests run through the caching allocator of
the engine (`gpustrata simulate`) on a simulated device; what comes out is a snapshot with the user's stacks.

    estimate.py     the `with` block; the order in which everything is put in place and taken away
    fake.py         fake tensors that look like CUDA's to Python and to the dispatcher
    operators.py    every operator as the dispatcher sees it: what it makes, what it cannot know
    temporaries.py  memory inside of kernels, where it is certain
    storages.py     storages as requests
    backward.py     sums of gradients, which autograd makes in place where it can
    composites.py   operators that PyTorch takes apart in another way for CUDA
    autocast.py     torch.autocast("cuda")
    cuda.py         torch.cuda where there is no device
    around.py       loaders with workers, torch.compile, torch.save
    requests.py     the requests, with the stacks of those who asked
    simulated.py    requests -> peaks and a snapshot
    told.py         the answer in words
    command.py      `gpustrata estimate`
"""
