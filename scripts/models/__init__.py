"""The models that export_model.py knows, one file a family. Plain torch.nn, float32."""

from models import decoders, diffusion, encoders, ranking, small, speech, vision

MODELS = {
    **encoders.MODELS, **decoders.MODELS, **vision.MODELS, **ranking.MODELS, **speech.MODELS,
    **diffusion.MODELS, **small.MODELS,
}
